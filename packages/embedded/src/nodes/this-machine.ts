import { availableParallelism, release, totalmem, type } from 'node:os';
import type { Machine } from './node-objects.ts';

const GO_ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', ia32: '386' };
/** Nobody asks the disk: what is free on it changes with every write, and nothing here is refused for it. */
const STORAGE_BYTES = 2 ** 40;

/** The machine that this program runs on. */
export function thisMachine(): Machine {
  return {
    cpus: availableParallelism(),
    memoryBytes: totalmem(),
    storageBytes: STORAGE_BYTES,
    architecture: GO_ARCHITECTURES[process.arch] ?? process.arch,
    operatingSystem: process.platform === 'win32' ? 'windows' : process.platform,
    kernelVersion: release(),
    osImage: type(),
  };
}
