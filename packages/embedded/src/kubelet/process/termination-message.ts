import { open } from 'node:fs/promises';
import type { Container } from '@polder/kube';

/** As in the real kubelet: the end of the file counts, and of the log at most so many lines and bytes. */
const MOST_OF_FILE = 4096;
const MOST_OF_LOG = 2048;
const MOST_LINES = 80;

/** A container's last words: what it left in its file, or the end of its log if it failed without leaving any. */
export async function terminationMessage(
  { terminationMessagePolicy }: Container,
  file: string,
  exitCode: number,
  readLog: (tailLines: number) => AsyncIterable<Uint8Array>,
): Promise<string | undefined> {
  const left = await endOf(file);
  if (left !== '' || exitCode === 0 || terminationMessagePolicy !== 'FallbackToLogsOnError') return left || undefined;
  let end = Buffer.alloc(0);
  for await (const piece of readLog(MOST_LINES)) end = Buffer.concat([end, piece]).subarray(-MOST_OF_LOG);
  return end.toString() || undefined;
}

async function endOf(path: string): Promise<string> {
  const file = await open(path).catch(() => undefined);
  if (file === undefined) return '';
  try {
    const { size } = await file.stat();
    const length = Math.min(size, MOST_OF_FILE);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, size - length);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}
