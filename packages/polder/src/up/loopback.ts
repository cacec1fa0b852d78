import { createHash } from 'node:crypto';

/** From 127.64.0.0 to the end of the loopback addresses, in blocks of 4,096: sixteen in each step of the second number. */
const BLOCKS = 64 * 16;

/**
 * Which loopback addresses the pods of a cluster have. Clusters on one machine (a second checkout, a test) must not share
 * them, and pods keep theirs over a restart: so it is the folder that decides.
 */
export function loopbackOf(folder: string): string {
  const block = createHash('sha256').update(folder).digest().readUInt16BE() % BLOCKS;
  return `127.${64 + Math.floor(block / 16)}.${(block % 16) * 16}.0`;
}
