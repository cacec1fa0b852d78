import { Simulation, type State } from '@polder/embedded/simulation';
import {
  type Client,
  ConfigMap,
  EventsV1Event,
  Metrics,
  PersistentVolumeClaim,
  Service,
  StatefulSet,
  together,
} from '@polder/kube';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { QdrantCluster, QdrantMetrics } from '../src/index.ts';
import {
  aClusterOf,
  applyCluster,
  hasPeers,
  isSettled,
  type QdrantWorld,
  qdrantWorld,
  setIn,
  vectors,
} from './world.ts';

let simulation: Simulation<QdrantWorld>;
let metrics: Metrics;
let client: Client;
/** What happens as the next pass begins. */
let onPass: (() => void) | undefined;

beforeEach(async () => {
  onPass = undefined;
  const world = qdrantWorld({
    measured: (controllers, clock) => {
      metrics = new Metrics({ clock });
      const passStarted = () => {
        const act = onPass;
        onPass = undefined;
        act?.();
      };
      return together([new QdrantMetrics(metrics.meters, controllers), { running: () => ({ passStarted }) }]);
    },
  });
  simulation = await new Simulation({ seed: 1, world }).start();
  ({ client } = simulation);
});
afterEach(() => simulation.end());

const until = (what: string, isSo: (state: State) => boolean) => simulation.until(what, isSo, 900_000);

/** The value of a series under the operator's prefix: `leader`, `drift_detected_total{resource_type="service"}`. */
async function value(series: string): Promise<number | undefined> {
  const name = `qdrant_operator_${series} `;
  const line = (await metrics.text()).split('\n').find((one) => one.startsWith(name));
  return line === undefined ? undefined : Number(line.slice(name.length));
}

/** All series of a family that are not zero, with their values. */
async function counted(family: string): Promise<readonly string[]> {
  const name = `qdrant_operator_${family}{`;
  const lines = (await metrics.text()).split('\n').filter((line) => line.startsWith(name) && !line.endsWith(' 0'));
  return lines.map((line) => line.slice(name.length - 1)).toSorted();
}

async function aCluster(replicas = 1): Promise<void> {
  await applyCluster(aClusterOf(replicas))(client);
  await until('it is settled', hasPeers(replicas));
}

test('what is managed, waits and leads is what is so at the moment', async () => {
  await simulation.pass(1_000);
  expect(await value('clusters_managed')).toBe(0);
  await aCluster();
  expect(await value('clusters_managed')).toBe(1);
  expect(await value('collections_managed')).toBe(0);
  expect(await value('leader')).toBe(1);
  expect(await value('reconcile_queue_depth')).toBe(0);
  expect(await value('reconcile_total{resource_type="cluster",result="success"}')).toBeGreaterThan(0);
  expect(await value('reconcile_duration_seconds_count{resource_type="cluster"}')).toBe(
    await value('reconcile_total{resource_type="cluster",result="success"}'),
  );
  expect(await counted('errors_total')).toEqual([]);
  expect(await counted('drift_detected_total')).toEqual([]);
});

describe('drift is counted', () => {
  test('once for each object that somebody changed or deleted, and never for a change of the spec', async () => {
    await aCluster();
    await client.patch(Service, vectors, { type: 'merge', body: { spec: { selector: { clustername: 'x' } } } });
    await client.delete(ConfigMap, vectors);
    await client.patch(StatefulSet, vectors, { type: 'merge', body: { spec: { replicas: 0 } } });
    await until('all is as it was', (state) => hasPeers(1)(state) && state.get(ConfigMap, vectors) !== undefined);
    await simulation.pass(600_000);
    const once = ['{resource_type="configmap"} 1', '{resource_type="service"} 1', '{resource_type="statefulset"} 1'];
    expect(await counted('drift_detected_total')).toEqual(once);
    await applyCluster(aClusterOf(3, { config: { log_level: 'DEBUG' } }))(client);
    await until('three peers', hasPeers(3));
    await applyCluster(aClusterOf(2))(client);
    await until('two peers', hasPeers(2));
    expect(await counted('drift_detected_total')).toEqual(once);
  });
});

test('a status that is overtaken is one conflict', async () => {
  await aCluster();
  onPass = () => {
    void client.patch(QdrantCluster, vectors, { type: 'merge', body: { metadata: { labels: { is: 'new' } } } });
  };
  await client.patch(QdrantCluster, vectors, { type: 'merge', body: { spec: { config: { log_level: 'DEBUG' } } } });
  await until('it is settled', isSettled);
  expect(await counted('status_update_conflicts_total')).toEqual(['{resource_type="cluster"} 1']);
  expect(await counted('errors_total')).toEqual([]);
});

describe('a watch', () => {
  const watches = { verb: 'watch', plural: 'qdrantclusters' } as const;
  const isActive = () => value('watch_active{resource_type="cluster"}');

  test('that is cut is one error and one restart, and is active again', async () => {
    await simulation.pass(1_000);
    expect(await isActive()).toBe(1);
    simulation.server.faults.on({ ...watches, count: 1 }, { do: 'reset' });
    await simulation.pass(10);
    expect(await isActive()).toBe(0);
    await simulation.pass(10_000);
    expect(await isActive()).toBe(1);
    expect(await counted('watch_restarts_total')).toEqual(['{resource_type="cluster",reason="error"} 1']);
    expect(await counted('errors_total')).toEqual(['{type="watch"} 1']);
  });

  test('that the server closes in its time is restarted, and no error', async () => {
    await simulation.pass(1_000);
    simulation.server.faults.on({ ...watches, count: 1 }, { do: 'close' });
    await simulation.pass(10_000);
    expect(await counted('watch_restarts_total')).toEqual(['{resource_type="cluster",reason="normal"} 1']);
    expect(await counted('errors_total')).toEqual([]);
  });

  test('that the server has no time for is told apart', async () => {
    await simulation.pass(1_000);
    // As often as the client itself asks again; and one is used up by the watch that is open, to no effect.
    simulation.server.faults.on({ ...watches, count: 11 }, { do: 'throttle', retryAfterSeconds: 1 });
    simulation.server.faults.on({ ...watches, count: 1 }, { do: 'close' });
    await simulation.pass(60_000);
    expect(await counted('watch_restarts_total')).toEqual([
      '{resource_type="cluster",reason="normal"} 1',
      '{resource_type="cluster",reason="rate_limit"} 1',
    ]);
    expect(await counted('errors_total')).toEqual(['{type="watch_start"} 1']);
    expect(await isActive()).toBe(1);
  });
});

describe('an error is', () => {
  test('a spec that can not be, once for each that was written', async () => {
    await applyCluster(aClusterOf(1, { image: ' ' }))(client);
    await simulation.pass(900_000);
    expect(await counted('errors_total')).toEqual(['{type="validation"} 1']);
    await applyCluster(aClusterOf(2, { image: ' ' }))(client);
    await simulation.pass(900_000);
    expect(await counted('errors_total')).toEqual(['{type="validation"} 2']);
  });

  test('a finalizer that could not be stored, and the pass that came to nothing for it', async () => {
    await simulation.pass(1_000);
    const writes = { verb: 'patch', plural: 'qdrantclusters', userAgent: 'operator', count: 1 } as const;
    simulation.server.faults.on(writes, { do: 'fail', when: 'before' });
    await aCluster();
    expect(await counted('errors_total')).toEqual(['{type="finalizer_add"} 1', '{type="reconcile"} 1']);
    expect(await value('reconcile_total{resource_type="cluster",result="error"}')).toBe(1);
  });

  test('a cleanup that fails; one that is given up is told, and counted', async () => {
    await applyCluster(aClusterOf(1, { deletionPolicy: { pvc: 'Delete' } }))(client);
    await until('it is settled', hasPeers(1));
    const claims = { verb: 'delete', plural: 'persistentvolumeclaims' } as const;
    simulation.server.faults.on(claims, { do: 'fail', when: 'before' });
    await client.delete(QdrantCluster, vectors);
    await until('it is let go', (state) => state.get(QdrantCluster, vectors) === undefined);
    await simulation.pass(1_000);
    expect(await counted('errors_total')).toEqual(['{type="cleanup"} 10', '{type="cleanup_force_delete"} 1']);
    expect(await value('cleanup_duration_seconds_count{resource_type="cluster"}')).toBe(1);
    expect(await value('clusters_managed')).toBe(0);
    const told = (await client.list(EventsV1Event)).items.filter(({ reason }) => reason === 'CleanupForced');
    expect(told.map(({ note }) => note)).toEqual([
      'Gave up cleaning up after 10 attempts; volumes of the cluster may be left',
    ]);
    expect(simulation.state.list(PersistentVolumeClaim)).toHaveLength(1);
  });
});

test('a deletion is measured once, from when it was asked for', async () => {
  await aCluster();
  await client.delete(QdrantCluster, vectors);
  await until('it is gone', (state) => state.get(QdrantCluster, vectors) === undefined);
  await simulation.pass(60_000);
  expect(await value('cleanup_duration_seconds_count{resource_type="cluster"}')).toBe(1);
  expect(await value('cleanup_duration_seconds_sum{resource_type="cluster"}')).toBeLessThan(2);
  expect(await counted('errors_total')).toEqual([]);
});

test('what a rule holds back is counted for as long as it does', async () => {
  await aCluster(2);
  await applyCluster(aClusterOf(1, { scaleDown: { policy: 'Forbid' } }))(client);
  await simulation.pass(60_000);
  expect(await counted('held')).toContain('{rule="scaling-down-is-wanted"} 1');
  await applyCluster(aClusterOf(2, { scaleDown: { policy: 'Forbid' } }))(client);
  await until('it is settled', isSettled);
  await simulation.pass(1_000);
  expect(setIn(simulation.state)?.spec?.replicas).toBe(2);
  expect(await counted('held')).toEqual([]);
});
