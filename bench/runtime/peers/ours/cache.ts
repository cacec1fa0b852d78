/** Ours: a `Cache` of all pods, as a controller would have it. */

import { Cache, OwnWrites } from '@polder/kube/cache';
import { systemClock } from '@polder/kube/clock';
import { silentLogger } from '@polder/kube/log';
import { MARK, POD, podRef } from '../../pods.ts';
import { report, SyncMeter, Watcher } from '../node-process.ts';
import { clientFor } from './client.ts';

const [, , kubeconfigPath = ''] = process.argv;
const client = clientFor(kubeconfigPath);
const cache = new Cache({ client, clock: systemClock, random: Math.random, log: silentLogger });
const pods = cache.of(POD);
const watcher = new Watcher();
const meter = new SyncMeter();
cache.start();
await cache.synced();
await meter.synced(pods.size);
pods.subscribe((event) => {
  if (event.type === 'modified') watcher.saw(event.object.metadata.annotations);
});
await watcher.obey({
  /** From the server's answer to a write until the cache shows it. */
  async writes(count) {
    const own = new OwnWrites();
    const readableAfterMs: number[] = [];
    for (let at = 0; at < Number(count); at++) {
      const ref = podRef(at);
      const body = { metadata: { annotations: { [MARK]: `write-${at}` } } };
      own.wrote(POD, await client.patch(POD, ref, { type: 'merge', body }));
      const answeredAt = performance.now();
      await pods.until(() => !own.isStale(POD, pods, ref));
      readableAfterMs.push(performance.now() - answeredAt);
    }
    report({ report: 'writes', readableAfterMs });
  },
});
