import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePorts } from '../../tools/free-ports.ts';
import { type Figure, missing } from '../runtime/figure.ts';
import { ClientProcess, type Use } from './client-process.ts';
import type { Job, Peer } from './jobs.ts';
import type { Place } from './places.ts';

export interface Measured {
  readonly messagesPerSecond: Figure;
  readonly cpuMicroseconds: Figure;
  readonly peakRssMb: Figure;
}

/** Where a client reads from, and what of it has to arrive. */
export interface Task {
  readonly job: Job;
  readonly broker: string;
  readonly postgres: URL;
  readonly input: string;
  readonly output: string;
  readonly place: Place;
  /** So many come in, and so many must come out. */
  readonly messages: number;
  readonly expected: number;
  readonly folder: string;
  readonly core: number;
}

const LOOK_EVERY_MS = 100;
const PATIENCE_MS = 180_000;

/**
 * One client does one job. The clock runs from the moment the first messages have arrived until all have, so that how long a
 * program takes to start, and to join a consumer group, is not in it.
 */
export async function measure(peer: Peer, task: Task): Promise<Measured> {
  const { job, broker, postgres, input, output, place, messages, expected, core } = task;
  const folder = join(task.folder, output);
  mkdirSync(folder, { recursive: true });
  const [port = 0] = await freePorts(1);
  const command = peer.command({ job, broker, postgres, input, output, id: output, folder, port });
  if (command === undefined) return notMeasured('–');
  const client = new ClientProcess(command, core, join(folder, 'client.log'));
  try {
    const begun = await until(client, place, 1);
    const done = await until(client, place, expected);
    if (begun === undefined || done === undefined) {
      console.error(`${peer.name}, ${job.name}: ${client.hasEnded ? 'ended' : 'too slow'}\n${client.said}`);
      return notMeasured('failed');
    }
    const counted = (messages * (done.arrived - begun.arrived)) / expected;
    return {
      messagesPerSecond: (counted * 1_000) / (done.at - begun.at),
      cpuMicroseconds: ((done.cpuSeconds - begun.cpuSeconds) * 1e6) / counted,
      peakRssMb: done.peakRssMb,
    };
  } finally {
    await client.stop();
    rmSync(folder, { recursive: true });
  }
}

interface Moment extends Use {
  readonly at: number;
  readonly arrived: number;
}

/** When so many have arrived. Undefined: they never will. */
async function until(client: ClientProcess, place: Place, count: number): Promise<Moment | undefined> {
  const deadline = performance.now() + PATIENCE_MS;
  while (performance.now() < deadline) {
    const { hasEnded } = client;
    const use = client.use();
    const arrived = await place.arrived();
    if (arrived >= count) return { at: performance.now(), arrived, ...use };
    // One that has nothing left to do may end by itself, but not before all has arrived.
    if (hasEnded) return undefined;
    await sleep(LOOK_EVERY_MS);
  }
  return undefined;
}

function notMeasured(because: string): Measured {
  const none = missing(because);
  return { messagesPerSecond: none, cpuMicroseconds: none, peakRssMb: none };
}
