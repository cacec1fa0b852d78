import type { StatefulSet } from '@polder/kube';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anything, type Seen } from '../../../test/observations.ts';
import { NOW } from '../../../test/states.ts';
import { DEFAULTS } from '../../settings.ts';
import { newsOfClaim, newsOfPod, newsOfSet } from '../news.ts';
import { BOOTSTRAP, ordinalOf, podAt, uriOf } from '../objects/index.ts';
import type { Observed, PeerView, PodSeen } from '../observe.ts';
import { type ClusterPlan, type ClusterStep, planCluster } from './index.ts';

/** What a test knows is what was seen, looked at without any of the code that plans. */
interface Answering {
  readonly pod: string;
  readonly ordinal: number;
  readonly view: PeerView;
}

const answering = (pods: readonly PodSeen[]): readonly Answering[] =>
  pods.flatMap(({ pod, ordinal, peer }) => (peer.known ? [{ pod: pod.metadata.name, ordinal, view: peer.value }] : []));

/** Everybody who follows somebody that answers, calls itself the leader, and knows them: nobody else's word counts. */
const followers = (peers: readonly Answering[]) =>
  peers.filter(({ view: { id, leader } }) =>
    peers.some(({ view }) => view.id === leader && view.leader === leader && view.members.has(id)),
  );

/** What every one of them says of a replica. */
function statesOf(peers: readonly Answering[], collection: string, shard: number, peer: string): readonly string[] {
  return peers.map(({ view }) => {
    const found = view.distributions.known
      ? view.distributions.value.find((one) => one.collection === collection)
      : undefined;
    return found?.replicas.find((one) => one.shard === shard && one.peer === peer)?.state ?? 'nothing';
  });
}

const holds = (view: PeerView, peer: string) =>
  !view.distributions.known ||
  view.distributions.value.some(({ replicas }) => replicas.some((one) => one.peer === peer));

/** `POLDER_RUNS=100000` looks for more. */
const RUNS = Number(process.env['POLDER_RUNS'] ?? 4_000);
const PATIENT = 120_000;

type Check = (step: ClusterStep, seen: Seen, plan: ClusterPlan) => void;

/** How often a plan had a step of this kind: a property that never meets one proves nothing. */
function holdsFor(names: readonly ClusterStep['do'][], check: Check): void {
  let met = 0;
  fc.assert(
    fc.property(anything, (seen) => {
      const plan = planCluster(seen.cluster, seen.observed, DEFAULTS, NOW);
      for (const step of plan.steps.filter((one) => names.includes(one.do))) {
        met++;
        check(step, seen, plan);
      }
    }),
    { numRuns: RUNS },
  );
  expect(met).toBeGreaterThan(RUNS / 400);
}

const scaleOf = (step: ClusterStep) => (step.do === 'scale' ? step : undefined);

/** What a plan makes of the StatefulSet, as an object or by a step. */
function setsIn({ objects, steps }: ClusterPlan): readonly StatefulSet[] {
  const isSet = (object: { kind: string }): object is StatefulSet => object.kind === 'StatefulSet';
  return [...objects.filter(isSet), ...steps.flatMap((step) => scaleOf(step)?.as ?? [])];
}

test(
  'no plan drops the last active copy of a shard: another peer answers, and everybody calls its copy active',
  () => {
    holdsFor(['drop-replica'], (step, { observed }) => {
      if (step.do !== 'drop-replica') return;
      const peers = followers(answering(observed.pods));
      const others = peers.filter(({ view }) => view.id !== step.peer);
      const isSafe = others.some(({ view: { id } }) =>
        statesOf(peers, step.collection, step.shard, id).every((state) => state === 'Active'),
      );
      expect(isSafe).toBe(true);
    });
  },
  PATIENT,
);

test(
  'no plan moves or copies a shard from where it is not, or to where it is',
  () => {
    holdsFor(['move-replica', 'replicate-shard'], (step, { observed }) => {
      if (step.do !== 'move-replica' && step.do !== 'replicate-shard') return;
      const peers = followers(answering(observed.pods));
      const at = (peer: string) => statesOf(peers, step.collection, step.shard, peer);
      expect(at(step.from).every((state) => state === 'Active')).toBe(true);
      expect(at(step.to).every((state) => state === 'nothing')).toBe(true);
      for (const id of [step.from, step.to]) expect(peers.map(({ view }) => view.id)).toContain(id);
    });
  },
  PATIENT,
);

test(
  'no plan removes a peer that anybody thinks holds a shard',
  () => {
    holdsFor(['remove-peer'], (step, { observed }) => {
      if (step.do !== 'remove-peer') return;
      for (const { view } of followers(answering(observed.pods))) expect(holds(view, step.peer)).toBe(false);
    });
  },
  PATIENT,
);

test(
  'no plan takes a pod away whose peer anybody thinks is a member, or more than one',
  () => {
    holdsFor(['scale'], (step, { cluster, observed }) => {
      const to = scaleOf(step)?.to ?? 0;
      const size = observed.children.set?.spec?.replicas ?? 0;
      if (to >= size || cluster.spec.suspend) return;
      expect(to).toBe(size - 1);
      const peers = followers(answering(observed.pods));
      expect(peers).not.toEqual([]);
      for (const { view } of peers) {
        const pods = [...view.members.values()].map((uri) => ordinalOf(cluster, podAt(uri) ?? '') ?? -1);
        expect(Math.max(...pods)).toBeLessThan(to);
      }
    });
  },
  PATIENT,
);

test(
  'no plan changes how many pods there are but by a step, which applies the StatefulSet instead',
  () => {
    let grown = 0;
    fc.assert(
      fc.property(anything, (seen) => {
        const plan = planCluster(seen.cluster, seen.observed, DEFAULTS, NOW);
        const size = seen.observed.children.set?.spec?.replicas;
        const [scale] = plan.steps.flatMap((step) => scaleOf(step) ?? []);
        const sets = setsIn(plan);
        expect(sets.length).toBeLessThanOrEqual(1);
        if (size !== undefined) for (const set of sets) expect(set.spec?.replicas).toBe(scale?.to ?? size);
        if (scale && scale.to > (size ?? 0)) grown++;
      }),
      { numRuns: RUNS },
    );
    expect(grown).toBeGreaterThan(RUNS / 400);
  },
  PATIENT,
);

test(
  'no plan depends on what of pods, claims and the StatefulSet brings nobody back',
  () => {
    fc.assert(
      fc.property(anything, ({ cluster, observed }) => {
        const seen = noisy(observed);
        const outline = (of: Observed) => {
          const { steps, held, status, summary, events } = planCluster(cluster, of, DEFAULTS, NOW);
          const sentences = [...steps, ...held.map(({ step }) => step)].map((step) => `${step.do}: ${step.because}`);
          return { sentences, rules: held.map(({ rule }) => rule), status, summary, events };
        };
        expect(outline(seen)).toEqual(outline(observed));
        for (const [at, { pod }] of observed.pods.entries()) {
          expect(newsOfPod(seen.pods[at]?.pod ?? pod)).toEqual(newsOfPod(pod));
        }
        for (const [at, { claim }] of observed.claims.entries()) {
          expect(newsOfClaim(seen.claims[at]?.claim ?? claim)).toEqual(newsOfClaim(claim));
        }
        const [before, after] = [observed.children.set, seen.children.set];
        if (before && after) expect(newsOfSet(after)).toEqual(newsOfSet(before));
      }),
      { numRuns: RUNS },
    );
  },
  PATIENT,
);

/** With what a scheduler, kubelets and controllers write into objects while pods start. */
function noisy({ pods, claims, children, ...rest }: Observed): Observed {
  const { set } = children;
  return {
    ...rest,
    pods: pods.map((one) => ({
      ...one,
      pod: {
        ...one.pod,
        metadata: { ...one.pod.metadata, resourceVersion: '99', annotations: { 'cni/ip': '10.0.0.1' } },
        spec: { ...one.pod.spec, containers: one.pod.spec?.containers ?? [], nodeName: 'node-1' },
        status: {
          ...one.pod.status,
          phase: 'Running',
          podIP: '10.0.0.1',
          conditions: [
            ...(one.pod.status?.conditions ?? []),
            { type: 'PodScheduled', status: 'True' as const },
            { type: 'Initialized', status: 'True' as const },
            { type: 'ContainersReady', status: 'True' as const },
          ],
        },
      },
    })),
    claims: claims.map((one) => ({
      ...one,
      claim: {
        ...one.claim,
        metadata: { ...one.claim.metadata, annotations: { 'pv.kubernetes.io/bind-completed': 'yes' } },
        spec: { ...one.claim.spec, volumeName: 'volume-1' },
        status: { phase: 'Bound' as const, capacity: { storage: '1Gi' } },
      },
    })),
    children: {
      ...children,
      set: set && {
        ...set,
        metadata: { ...set.metadata, resourceVersion: '99' },
        status: { ...set.status, replicas: 7, readyReplicas: 5, availableReplicas: 5, currentReplicas: 7 },
      },
    },
  };
}

test(
  'no plan forms a second cluster: only where there is one pod, and never was another, may a peer begin anew',
  () => {
    let alone = 0;
    fc.assert(
      fc.property(anything, ({ cluster, observed }) => {
        const plan = planCluster(cluster, observed, DEFAULTS, NOW);
        const config = plan.objects.find(({ kind }) => kind === 'ConfigMap');
        const data: unknown = config && 'data' in config ? config.data : {};
        const bootstrap = typeof data === 'object' && data !== null && BOOTSTRAP in data ? data[BOOTSTRAP] : undefined;
        if (bootstrap !== uriOf(cluster, 0)) return;
        alone++;
        for (const set of setsIn(plan)) expect(set.spec?.replicas).toBeLessThanOrEqual(1);
        const members = answering(observed.pods);
        for (const { view } of members) expect(view.members.size).toBeLessThanOrEqual(1);
      }),
      { numRuns: RUNS },
    );
    expect(alone).toBeGreaterThan(RUNS / 400);
  },
  PATIENT,
);

test(
  'no plan has two steps that disturb the cluster',
  () => {
    const calm: readonly ClusterStep['do'][] = [
      'create-key',
      'renew-certificate',
      'remove-object',
      'hold-updates',
      'expand-volume',
      'remove-volume',
    ];
    fc.assert(
      fc.property(anything, ({ cluster, observed }) => {
        const { steps } = planCluster(cluster, observed, DEFAULTS, NOW);
        expect(steps.filter(({ do: name }) => !calm.includes(name)).length).toBeLessThanOrEqual(1);
      }),
      { numRuns: RUNS },
    );
  },
  PATIENT,
);

test(
  'no plan restarts a peer that runs while another does not answer, is not ready, or a copy is not active',
  () => {
    holdsFor(['restart-pod'], (step, { observed }) => {
      if (step.do !== 'restart-pod') return;
      const own = observed.pods.find(({ pod }) => pod === step.pod);
      const isRunning = own?.pod.status?.containerStatuses?.some(({ state }) => state?.running !== undefined);
      const others = observed.pods.filter((one) => one !== own);
      expect(others.every(({ pod }) => pod.metadata.deletionTimestamp === undefined)).toBe(true);
      if (!isRunning) return;
      expect(others.every(({ pod }) => pod.status?.conditions?.[0]?.status === 'True')).toBe(true);
      for (const { view } of followers(answering(observed.pods))) {
        const states = view.distributions.known ? view.distributions.value.flatMap(({ replicas }) => replicas) : [];
        expect(states.every(({ state }) => state === 'Active')).toBe(true);
      }
    });
  },
  PATIENT,
);

test(
  'no plan touches anything while consensus has stopped anywhere',
  () => {
    let met = 0;
    fc.assert(
      fc.property(anything, ({ cluster, observed }) => {
        const peers = answering(observed.pods);
        if (!peers.some(({ view }) => view.consensus.is === 'stopped' && view.isVoter)) return;
        const isKnown = peers.some(({ view }) => view.consensus.is === 'stopped' && isListed(view.id, peers));
        if (!isKnown) return;
        met++;
        const { steps, status } = planCluster(cluster, observed, DEFAULTS, NOW);
        expect(steps.map(({ do: name }) => name)).not.toContain('restart-pod');
        expect(steps.map(({ do: name }) => name)).not.toContain('scale');
        expect(status.reason).toBe('ConsensusStopped');
      }),
      { numRuns: RUNS },
    );
    expect(met).toBeGreaterThan(RUNS / 400);
  },
  PATIENT,
);

const isListed = (id: string, peers: readonly Answering[]) => peers.every(({ view }) => view.members.has(id));
