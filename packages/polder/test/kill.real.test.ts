/** Kill -9 in the middle of rollouts: nothing that was acknowledged is lost, nothing is left running, and what was begun is finished. */
import { Random, seeds } from '@polder/embedded/simulation';
import {
  type Client,
  ConfigMap,
  Deployment,
  PersistentVolumeClaim,
  Pod,
  StatefulSet,
  sleep,
  systemClock,
} from '@polder/kube';
import { expect, test } from 'vitest';
import { becomeProcesses, markedProgram, processesWith, Workplace } from './program.ts';

const KILLS = 20;
const REPLICAS = 3;
/** About as long as both rollouts take. */
const ROLLOUT_MS = 2_500;

test.each(seeds(1))(
  'a cluster that is killed during rollouts resumes them (seed %i)',
  { timeout: 600_000 },
  async (seed) => {
    await using place = new Workplace();
    const random = new Random(seed);
    const mark = `killed-${process.pid}-${seed}`;
    const acknowledged: string[] = [];

    let up = await started(place);
    await withClient(place, (client) => rollOut(client, mark, 0));
    await converges(place, mark, 0);
    const volumes = await withClient(place, volumesOf);
    expect(Object.keys(volumes)).toEqual(['data-kept-0', 'data-kept-1', 'data-kept-2']);

    for (let round = 1; round <= KILLS; round++) {
      const killedAfterMs = random.integer(0, ROLLOUT_MS);
      const told = `seed ${seed}, kill ${round} after ${killedAfterMs} ms`;
      await withClient(place, async (client) => {
        await rollOut(client, mark, round);
        const name = `acknowledged-${round}`;
        await client.create(ConfigMap, { metadata: { namespace: 'default', name } });
        acknowledged.push(name);
      });
      await sleep(systemClock, killedAfterMs);
      up.child.kill('SIGKILL');
      await up.exit;
      await becomeProcesses(mark, 0);

      up = await started(place);
      expect({ told, maps: await withClient(place, configMaps) }).toEqual({
        told,
        maps: expect.arrayContaining(acknowledged),
      });
      await converges(place, mark, round, told);
      expect({ told, volumes: await withClient(place, volumesOf) }).toEqual({ told, volumes });
    }
    up.child.kill('SIGINT');
    expect(await up.exit).toBe(0);
    expect(processesWith(mark)).toEqual([]);
  },
);

async function started(place: Workplace) {
  const up = place.polder('up');
  await up.says(/is ready at/);
  return up;
}

async function withClient<T>(place: Workplace, work: (client: Client) => Promise<T>): Promise<T> {
  const client = await place.connect();
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}

const markOf = (mark: string, round: number) => `${mark}-round-${round}.`;

/** Real processes and simulated ones with volumes; each round is a new template for both. */
async function rollOut(client: Client, mark: string, round: number): Promise<void> {
  const template = (app: string, container: object) => ({
    metadata: { labels: { app }, annotations: { round: String(round) } },
    spec: { terminationGracePeriodSeconds: 1, containers: [{ name: 'main', ...container }] },
  });
  const command: readonly string[] = JSON.parse(markedProgram(markOf(mark, round)));
  const spec = (app: string) => ({ replicas: REPLICAS, selector: { matchLabels: { app } } });
  const options = { fieldManager: 'test', force: true };
  await client.apply(
    Deployment,
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { namespace: 'default', name: 'real' },
      spec: { ...spec('real'), template: template('real', { image: 'polder/host', command }) },
    },
    options,
  );
  const claimType = { apiVersion: 'v1', kind: 'PersistentVolumeClaim' } as const;
  const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } as const;
  await client.apply(
    StatefulSet,
    {
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: { namespace: 'default', name: 'kept' },
      spec: {
        ...spec('kept'),
        serviceName: 'kept',
        template: template('kept', { image: 'nginx', volumeMounts: [{ name: 'data', mountPath: '/data' }] }),
        volumeClaimTemplates: [{ ...claimType, metadata: { name: 'data' }, spec: claim }],
      },
    },
    options,
  );
}

/** The last rollout is finished: by what the cluster says, and by what runs on this machine. */
async function converges(place: Workplace, mark: string, round: number, told = 'at first'): Promise<void> {
  const wanted = String(round);
  await withClient(place, async (client) => {
    await expect
      .poll(() => stateOf(client, mark, round), { timeout: 60_000, interval: 100, message: told })
      .toEqual({
        deployment: { round: wanted, isObserved: true, replicas: 3, updatedReplicas: 3, availableReplicas: 3 },
        statefulSet: { round: wanted, isObserved: true, replicas: 3, updatedReplicas: 3, availableReplicas: 3 },
        pods: Array(2 * REPLICAS).fill(wanted),
        processes: { marked: REPLICAS, ofThisRound: REPLICAS },
      });
  });
}

async function stateOf(client: Client, mark: string, round: number) {
  const [deployment, statefulSet, pods] = await Promise.all([
    client.get(Deployment, { namespace: 'default', name: 'real' }),
    client.get(StatefulSet, { namespace: 'default', name: 'kept' }),
    client.list(Pod, { namespace: 'default' }),
  ]);
  const rolloutOf = ({ metadata, spec, status }: Deployment | StatefulSet) => ({
    round: spec?.template.metadata?.annotations?.['round'],
    isObserved: status?.observedGeneration === metadata.generation,
    replicas: status?.replicas,
    updatedReplicas: status?.updatedReplicas,
    availableReplicas: status?.availableReplicas,
  });
  return {
    deployment: rolloutOf(deployment),
    statefulSet: rolloutOf(statefulSet),
    pods: pods.items.map(({ metadata }) => metadata.annotations?.['round']),
    processes: {
      marked: processesWith(mark).length,
      ofThisRound: processesWith(markOf(mark, round)).length,
    },
  };
}

async function configMaps(client: Client): Promise<readonly string[]> {
  return (await client.list(ConfigMap, { namespace: 'default' })).items.map(({ metadata }) => metadata.name);
}

async function volumesOf(client: Client): Promise<Readonly<Record<string, string | undefined>>> {
  const { items } = await client.list(PersistentVolumeClaim, { namespace: 'default' });
  return Object.fromEntries(items.map(({ metadata, spec }) => [metadata.name, spec?.volumeName]));
}
