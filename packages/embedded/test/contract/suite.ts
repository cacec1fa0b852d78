import type { Transport } from '@polder/kube';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { Wire } from './wire.ts';
import { World } from './world.ts';

export { expect } from 'vitest';

/** One promise of the API, in words, and how to see that it is kept. */
export interface Case {
  readonly promise: string;
  readonly keeps: (world: World) => Promise<void>;
}

export interface Topic {
  readonly name: string;
  readonly cases: readonly Case[];
}

type Declare = (promise: string, keeps: Case['keeps']) => void;

export function topic(name: string, declare: (promise: Declare) => void): Topic {
  const cases: Case[] = [];
  declare((promise, keeps) => cases.push({ promise, keeps }));
  return { name, cases };
}

export interface ServerUnderTest {
  readonly transport: Transport;
  stop(): Promise<void>;
}

/** Runs every topic on one server. Cases of a topic run beside each other: none may lean on another. */
export function runContract(
  server: 'real' | 'embedded',
  start: () => Promise<ServerUnderTest>,
  topics: readonly Topic[],
): void {
  describe(`the Kubernetes API of the ${server} server`, () => {
    const world = Promise.withResolvers<World>();
    let running: ServerUnderTest | undefined;

    beforeAll(async () => {
      running = await start();
      world.resolve(new World(new Wire(running.transport)));
    });

    afterAll(async () => {
      await running?.stop();
    });

    for (const { name, cases } of topics) {
      describe(`${server}: ${name}`, { concurrent: true }, () => {
        for (const { promise, keeps } of cases) {
          it(promise, async () => keeps(await world.promise));
        }
      });
    }
  });
}
