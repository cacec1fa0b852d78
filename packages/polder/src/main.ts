/** The program: reads flags, wires packages together, nothing else. */
import { program } from './program.ts';

await program(process).parseAsync(process.argv);
