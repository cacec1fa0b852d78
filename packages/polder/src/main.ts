/** The program: reads flags, wires packages together, nothing else. */
import { program } from './program.ts';

// Who reads no further (`polder crds | head`) has what he wanted.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});

await program(process).parseAsync(process.argv);
