import { afterAll, beforeAll, describe, inject, it } from 'vitest';
import { Kubectl } from './kubectl.ts';
import { reading } from './reading.ts';
import { writing } from './writing.ts';

export interface Cluster {
  /** The path of the file. */
  readonly kubeconfig: string;
  stop(): Promise<void>;
}

/** Everything a user does with kubectl, on one server. */
export function runKubectl(server: 'real' | 'embedded', start: () => Promise<Cluster>): void {
  describe(`kubectl on the ${server} server`, () => {
    const cluster = Promise.withResolvers<Cluster>();
    let running: Cluster | undefined;

    beforeAll(async () => {
      running = await start();
      cluster.resolve(running);
    });

    afterAll(async () => {
      await running?.stop();
    });

    for (const { promise, keeps } of [...writing, ...reading]) {
      it(promise, async () => {
        const { kubeconfig } = await cluster.promise;
        await using kubectl = await Kubectl.open(inject('kubectl'), kubeconfig);
        await keeps(kubectl);
      });
    }
  });
}
