import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { PodServer } from './subject.ts';

/** Starts a program that prints the port it serves on as its first line. It answers for this port of all pods. */
export async function startServer(program: string, port: number): Promise<PodServer> {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const kill = () => void child.kill('SIGKILL');
  // A run that ends early must not leave it behind.
  process.once('exit', kill);
  const [line]: unknown[] = await once(child.stdout, 'data');
  return {
    resolve: { [`*:${port}`]: `127.0.0.1:${Number(String(line))}` },
    close() {
      process.off('exit', kill);
      kill();
    },
  };
}
