import { type Client, type Clock, keyOf, type Logger, messageOf, Pod, type Resolve, withTimeout } from '@polder/kube';
import type { MeteredPods } from '../products.ts';
import { type Family, familiesIn, familyOf, labelled } from './exposition.ts';
import { type GetPage, getPage } from './page.ts';

export interface PodMetricsOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  readonly resolve: Resolve;
  /** All without it. */
  readonly namespaces?: readonly string[] | undefined;
  readonly fetchPage?: GetPage;
  /** How long one pod may take, and all of them together. */
  readonly podTimeoutMs: number;
  readonly allTimeoutMs: number;
}

/** So many are asked at once: enough for thousands within a scrape, and no burst of connections. */
const AT_ONCE = 32;

/**
 * What pods tell of themselves, at this moment. Each sample gets the label `pod`: while one takes the place of another there
 * are two with the same series, and counters of two processes can't be added up. A pod that does not answer in time costs
 * its own series alone.
 */
export async function podMetrics(pods: MeteredPods, options: PodMetricsOptions): Promise<readonly Family[]> {
  const { client, clock, log, namespaces = [undefined], allTimeoutMs } = options;
  try {
    return await withTimeout(clock, allTimeoutMs, undefined, 'asking for metrics', async (signal) => {
      const lists = await Promise.all(
        namespaces.map((namespace) => client.list(Pod, { namespace, labelSelector: pods.labelSelector, signal })),
      );
      const running = lists.flatMap(({ items }) => items).filter(({ status }) => status?.phase === 'Running');
      const answers = await inParallel(running, AT_ONCE, (pod) => familiesOf(pod, pods, options, signal));
      return [upFamily(pods, answers), ...answers.flatMap(({ families }) => families ?? [])];
    });
  } catch (error) {
    log.warn({ labels: pods.labelSelector, error: messageOf(error) }, 'pods could not be asked for their metrics');
    return [];
  }
}

interface Answer {
  readonly pod: Pod;
  /** Undefined: there was none. */
  readonly families?: readonly Family[];
}

async function familiesOf(
  pod: Pod,
  { port, prefix }: MeteredPods,
  { clock, log, resolve, podTimeoutMs, fetchPage = getPage }: PodMetricsOptions,
  outer: AbortSignal,
): Promise<Answer> {
  const { podIP = '' } = pod.status ?? {};
  const address = resolve(`${podIP.includes(':') ? `[${podIP}]` : podIP}:${port}`);
  try {
    outer.throwIfAborted();
    const page = await withTimeout(clock, podTimeoutMs, outer, `asking ${address}`, (signal) =>
      fetchPage(`http://${address}/metrics`, signal),
    );
    const families = familiesIn(page).filter(({ name }) => name.startsWith(prefix));
    return { pod, families: families.map((family) => labelled(family, 'pod', pod.metadata.name)) };
  } catch (error) {
    log.debug({ pod: keyOf(pod.metadata), error: messageOf(error) }, 'a pod did not tell its metrics');
    return { pod };
  }
}

const upFamily = ({ prefix }: MeteredPods, answers: readonly Answer[]): Family =>
  familyOf({
    name: `${prefix}processor_up`,
    help: '1 if the processor told its metrics in time, else 0',
    samples: answers.map(({ pod: { metadata }, families }) => ({
      labels: { namespace: metadata.namespace ?? '', pod: metadata.name },
      value: families ? 1 : 0,
    })),
  });

async function inParallel<T, R>(all: readonly T[], atOnce: number, work: (one: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const left = all.entries();
  const worker = async () => {
    for (const [index, one] of left) results[index] = await work(one);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, all.length) }, worker));
  return results;
}
