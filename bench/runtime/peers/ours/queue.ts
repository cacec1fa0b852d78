/** All keys in, then each out and done. With priorities, every second key is one that nobody waits for. */
import { systemClock } from '@polder/kube/clock';
import { BACKGROUND, WorkQueue } from '@polder/kube/queue';
import { cpuSeconds, report } from '../node-process.ts';

const [, , kind = '', count = ''] = process.argv;
const keys = Array.from({ length: Number(count) }, (_, at) => `namespace-${at % 100}/name-${at}`);
const startCpu = cpuSeconds();
const queue = new WorkQueue({ clock: systemClock });
for (const [at, key] of keys.entries())
  queue.add(key, { priority: kind === 'priority' && at % 2 === 0 ? BACKGROUND : 0 });
for (let left = keys.length; left > 0; left--) {
  const key = await queue.take();
  if (key === undefined) throw new Error('the queue was closed');
  queue.forget(key);
  queue.done(key);
}
report({ report: 'queue', cpuSeconds: cpuSeconds() - startCpu });
