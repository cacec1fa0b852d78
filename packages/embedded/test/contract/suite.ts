import type { Transport } from '@polder/kube';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { Wire } from './wire.ts';
import { World } from './world.ts';

export { expect } from 'vitest';

/** One promise of the API, in words, and how to see that it is kept. */
export interface Case<W = World> {
  readonly promise: string;
  readonly keeps: (world: W) => Promise<void>;
}

export interface Topic<W = World> {
  readonly name: string;
  readonly cases: readonly Case<W>[];
}

type Declare<W> = (promise: string, keeps: Case<W>['keeps']) => void;

export function topic<W = World>(name: string, declare: (promise: Declare<W>) => void): Topic<W> {
  const cases: Case<W>[] = [];
  declare((promise, keeps) => cases.push({ promise, keeps }));
  return { name, cases };
}

export type Server = 'real' | 'embedded';

export interface ServerUnderTest {
  readonly transport: Transport;
  readonly stop: () => Promise<void>;
}

/** Runs every topic on one server. */
export function runContract(server: Server, start: () => Promise<ServerUnderTest>, topics: readonly Topic[]): void {
  runTopics(server, `the Kubernetes API of the ${server} server`, topics, async () => {
    const { transport, stop } = await start();
    return { world: new World(new Wire(transport)), stop };
  });
}

/** Runs every topic in one world. Cases of a topic run beside each other: none may lean on another. */
export function runTopics<W>(
  server: Server,
  subject: string,
  topics: readonly Topic<W>[],
  open: () => Promise<{ readonly world: W; readonly stop: () => Promise<void> }>,
): void {
  describe(subject, () => {
    const world = Promise.withResolvers<W>();
    let stop = async () => {};

    beforeAll(async () => {
      const opened = await open();
      stop = opened.stop;
      world.resolve(opened.world);
    });

    afterAll(async () => {
      await stop();
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
