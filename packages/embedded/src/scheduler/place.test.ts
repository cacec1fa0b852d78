import type { Node, PersistentVolume, PersistentVolumeClaim, Pod, StorageClass } from '@polder/kube';
import { describe, expect, it } from 'vitest';
import { place } from './place.ts';
import { among, aNode, aPod, asking, type PodParts, type PodSpec } from './test-objects.ts';
import type { Storage } from './volumes.ts';

/** The name of the node, or why there is none: the part that speaks of the nodes. */
function decide(pod: Pod, nodes: readonly Node[], pods: readonly Pod[] = [], storage?: Storage): string {
  const placement = place(pod, among(nodes, pods, storage && { storage }));
  return placement.is === 'on-node' ? placement.node : (placement.because.split('. ')[0] ?? '');
}

const ZONE = 'topology.kubernetes.io/zone';
const HOST = 'kubernetes.io/hostname';
const zones = { a: { [ZONE]: 'a' }, b: { [ZONE]: 'b' } };

describe('a cordoned node', () => {
  const node = aNode('n', { spec: { unschedulable: true } });

  it('gets no pods', () => {
    expect(decide(aPod('p'), [node])).toBe('0/1 nodes are available: 1 node(s) were unschedulable');
  });

  it('gets those that tolerate it, as the pods of a DaemonSet do', () => {
    const tolerations = [{ key: 'node.kubernetes.io/unschedulable', operator: 'Exists' as const }];
    expect(decide(aPod('p', { tolerations }), [node])).toBe('n');
  });
});

describe('a tainted node', () => {
  const tainted = (effect: 'NoSchedule' | 'NoExecute' | 'PreferNoSchedule') =>
    aNode('a', { spec: { taints: [{ key: 'gpu', value: 'yes', effect }] } });

  it.each(['NoSchedule', 'NoExecute'] as const)('with %s gets only pods that tolerate it', (effect) => {
    const refusal = '0/1 nodes are available: 1 node(s) had untolerated taint(s)';
    const nodes = [tainted(effect)];
    expect(decide(aPod('p'), nodes)).toBe(refusal);
    expect(decide(aPod('p', { tolerations: [{ key: 'gpu', value: 'no' }] }), nodes)).toBe(refusal);
    expect(decide(aPod('p', { tolerations: [{ key: 'gpu', value: 'yes', effect: 'PreferNoSchedule' }] }), nodes)).toBe(
      refusal,
    );
    expect(decide(aPod('p', { tolerations: [{ key: 'gpu', value: 'yes', effect }] }), nodes)).toBe('a');
    expect(decide(aPod('p', { tolerations: [{ operator: 'Exists' }] }), nodes)).toBe('a');
  });

  it('that only would rather have none gets pods when there is no other', () => {
    const node = tainted('PreferNoSchedule');
    expect(decide(aPod('p'), [node, aNode('b')])).toBe('b');
    expect(decide(aPod('p'), [node])).toBe('a');
  });
});

describe('node affinity', () => {
  const nodes = [aNode('a', { labels: { size: '3' } }), aNode('b', { labels: { size: '10', old: '' } })];
  const wanting = (...nodeSelectorTerms: NonNullable<Required>['nodeSelectorTerms']) =>
    aPod('p', {
      affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
    });
  type Affinity = NonNullable<NonNullable<PodSpec['affinity']>['nodeAffinity']>;
  type Required = Affinity['requiredDuringSchedulingIgnoredDuringExecution'];
  const refusal = "0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector";

  it.each([
    [{ key: 'size', operator: 'In', values: ['10', '11'] }, 'b'],
    [{ key: 'size', operator: 'NotIn', values: ['10'] }, 'a'],
    [{ key: 'old', operator: 'Exists' }, 'b'],
    [{ key: 'old', operator: 'DoesNotExist' }, 'a'],
    [{ key: 'size', operator: 'Gt', values: ['3'] }, 'b'],
    [{ key: 'size', operator: 'Lt', values: ['10'] }, 'a'],
    [{ key: 'old', operator: 'Gt', values: ['0'] }, refusal],
  ] as const)('by %j gives %s', (requirement, expected) => {
    expect(decide(wanting({ matchExpressions: [requirement] }), nodes)).toBe(expected);
  });

  it('needs one of its terms, and all that a term says; an empty term is no term', () => {
    const a = { key: 'size', operator: 'In', values: ['3'] } as const;
    const b = { key: 'old', operator: 'Exists' } as const;
    expect(decide(wanting({ matchExpressions: [a, b] }, { matchExpressions: [b] }), nodes)).toBe('b');
    expect(decide(wanting({ matchExpressions: [a, b] }), nodes)).toBe(refusal);
    expect(decide(wanting({}), nodes)).toBe(refusal);
  });

  it('by name looks at no other node, and says so', () => {
    const named = (...values: string[]) => ({
      matchFields: [{ key: 'metadata.name', operator: 'In' as const, values }],
    });
    expect(decide(wanting(named('b')), nodes)).toBe('b');
    expect(decide(wanting(named('c')), nodes)).toBe(
      "0/2 nodes are available: 2 node(s) didn't satisfy plugin(s) [NodeAffinity]",
    );
  });

  it('and the selector must both be satisfied', () => {
    const { spec, ...pod } = wanting({ matchExpressions: [{ key: 'size', operator: 'Exists' }] });
    const selecting = { ...pod, spec: { containers: [], ...spec, nodeSelector: { old: '' } } };
    expect(decide(selecting, nodes)).toBe('b');
  });

  it('that is preferred decides between equals', () => {
    const preference = { matchExpressions: [{ key: 'old', operator: 'Exists' as const }] };
    const preferred = [{ weight: 1, preference }];
    const affinity = { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: preferred } };
    expect(decide(aPod('p', { affinity }), nodes)).toBe('b');
  });
});

describe('resources', () => {
  const refusal = (...reasons: string[]) => `0/1 nodes are available: ${reasons.join(', ')}`;
  const nodes = [aNode('n', { allocatable: { cpu: '2', memory: '1Gi', 'example.com/gpu': '1', pods: '3' } })];
  const on = (name: string, parts: PodParts) => aPod(name, { nodeName: 'n', ...parts });

  it('are what the node has, less what its pods asked for', () => {
    const there = [on('x', asking({ cpu: '1500m', 'example.com/gpu': '1' }))];
    expect(decide(aPod('p', asking({ cpu: '500m' })), nodes, there)).toBe('n');
    expect(decide(aPod('p', asking({ cpu: '501m', memory: '2Gi', 'example.com/gpu': '1' })), nodes, there)).toBe(
      refusal('1 Insufficient cpu', '1 Insufficient example.com/gpu', '1 Insufficient memory'),
    );
  });

  it('are free again when a pod has ended', () => {
    const ended = { ...on('x', asking({ cpu: '2' })), status: { phase: 'Succeeded' as const } };
    expect(decide(aPod('p', asking({ cpu: '2' })), nodes, [ended])).toBe('n');
  });

  it('count init containers, sidecars and overhead', () => {
    const container = (name: string, cpu: string) => ({ name, image: 'i', resources: { requests: { cpu } } });
    const sidecar = { ...container('side', '500m'), restartPolicy: 'Always' };
    const pod = (init: string, overhead: string) =>
      aPod('p', {
        containers: [container('c', '1')],
        initContainers: [sidecar, container('init', init)],
        overhead: { cpu: overhead },
      });
    expect(decide(pod('1', '500m'), nodes)).toBe('n');
    expect(decide(pod('1', '501m'), nodes)).toBe(refusal('1 Insufficient cpu'));
    expect(decide(pod('1501m', '0'), nodes)).toBe(refusal('1 Insufficient cpu'));
  });

  it('end with the number of pods', () => {
    const there = ['x', 'y', 'z'].map((name) => on(name, {}));
    expect(decide(aPod('p'), nodes, there)).toBe(refusal('1 Too many pods'));
  });

  it('are taken where most is left', () => {
    const pair = [aNode('a'), aNode('b')];
    expect(decide(aPod('p'), pair, [aPod('x', { nodeName: 'a', ...asking({ cpu: '1' }) })])).toBe('b');
  });
});

it('a port of a node is for one pod, unless they listen on different addresses', () => {
  const listening = (name: string, hostIP?: string, nodeName = '') => {
    const port = { containerPort: 80, hostPort: 80, ...(hostIP !== undefined && { hostIP }) };
    return aPod(name, { nodeName, containers: [{ name: 'c', image: 'i', ports: [port] }] });
  };
  const nodes = [aNode('n')];
  const refusal = "0/1 nodes are available: 1 node(s) didn't have free ports for the requested pod ports";
  expect(decide(listening('p'), nodes, [listening('x', '10.0.0.1', 'n')])).toBe(refusal);
  expect(decide(listening('p', '10.0.0.1'), nodes, [listening('x', '10.0.0.1', 'n')])).toBe(refusal);
  expect(decide(listening('p', '10.0.0.2'), nodes, [listening('x', '10.0.0.1', 'n')])).toBe('n');
});

describe('pods that want to be together', () => {
  const nodes = [aNode('a1', { labels: zones.a }), aNode('a2', { labels: zones.a }), aNode('b1', { labels: zones.b })];
  const near = (labels: Readonly<Record<string, string>>, topologyKey = ZONE) => ({
    affinity: {
      podAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey, labelSelector: { matchLabels: labels } }],
      },
    },
  });
  const refusal = "0/3 nodes are available: 3 node(s) didn't match pod affinity rules";

  it('go into the same domain', () => {
    const db = aPod('db', { nodeName: 'b1', labels: { app: 'db' } });
    expect(decide(aPod('web', near({ app: 'db' })), nodes, [db])).toBe('b1');
    expect(decide(aPod('web', { ...near({ app: 'db' }), namespace: 'other' }), nodes, [db])).toBe(refusal);
  });

  it('wait for the other, but the first of a group does not wait for itself', () => {
    expect(decide(aPod('web', near({ app: 'db' })), nodes)).toBe(refusal);
    expect(decide(aPod('db', { ...near({ app: 'db' }), labels: { app: 'db' } }), nodes)).toBe('a1');
  });

  it('may look into other namespaces, by name or by label', () => {
    const db = aPod('db', { nodeName: 'b1', labels: { app: 'db' }, namespace: 'data' });
    const looking = (where: object) => {
      const term = { topologyKey: ZONE, labelSelector: { matchLabels: { app: 'db' } }, ...where };
      return aPod('p', { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } } });
    };
    const namespaces = new Map([['data', { team: 'data' }]]);
    const go = (where: object) => place(looking(where), among(nodes, [db], { namespaces }));
    expect(go({ namespaces: ['data'] })).toMatchObject({ node: 'b1' });
    expect(go({ namespaceSelector: { matchLabels: { team: 'data' } } })).toMatchObject({ node: 'b1' });
    expect(go({ namespaceSelector: {} })).toMatchObject({ node: 'b1' });
    expect(go({ namespaceSelector: { matchLabels: { team: 'web' } } })).toMatchObject({ is: 'nowhere' });
  });
});

describe('pods that must be apart', () => {
  const nodes = [aNode('a'), aNode('b')];
  const apart = (parts: object = {}) => ({
    affinity: {
      podAntiAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [
          { topologyKey: HOST, labelSelector: { matchLabels: { app: 'db' } }, ...parts },
        ],
      },
    },
  });
  const db = { labels: { app: 'db', version: '1' } };

  it('are not put together, whoever of them said so', () => {
    const there = [aPod('x', { ...db, nodeName: 'a' }), aPod('y', { ...db, nodeName: 'b', ...apart() })];
    expect(decide(aPod('p', apart()), nodes, there)).toBe(
      "0/2 nodes are available: 2 node(s) didn't match pod anti-affinity rules",
    );
    expect(decide(aPod('p', db), nodes, there)).toBe('a');
    const alone = [aPod('y', { ...db, nodeName: 'a', ...apart() })];
    expect(decide(aPod('p', db), [aNode('a')], alone)).toBe(
      "0/1 nodes are available: 1 node(s) didn't satisfy existing pods anti-affinity rules",
    );
  });

  it('may mean only those of the same version', () => {
    const there = [aPod('x', { nodeName: 'a', labels: { app: 'db', version: '2' } })];
    const pod = aPod('p', { ...db, ...apart({ matchLabelKeys: ['version'] }) });
    expect(decide(pod, [aNode('a')], there)).toBe('a');
    const other = aPod('p', { ...db, ...apart({ mismatchLabelKeys: ['version'] }) });
    expect(decide(other, [aNode('a')], there)).toContain("didn't match pod anti-affinity rules");
  });

  it('are together only if they would rather not be, and have to', () => {
    const podAffinityTerm = { topologyKey: HOST, labelSelector: { matchLabels: { app: 'db' } } };
    const preferred = [{ weight: 100, podAffinityTerm }];
    const affinity = { podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: preferred } };
    const there = [aPod('x', { ...db, nodeName: 'a' }), aPod('big', { nodeName: 'b', ...asking({ cpu: '3' }) })];
    expect(decide(aPod('p', { affinity }), nodes, there)).toBe('b');
    expect(decide(aPod('p', { affinity }), [aNode('a')], there)).toBe('a');
    const shy = [aPod('x', { affinity, nodeName: 'a' }), aPod('big', { nodeName: 'b', ...asking({ cpu: '3' }) })];
    expect(decide(aPod('p', db), nodes, shy)).toBe('b');
  });
});

describe('topology spread', () => {
  const nodes = [aNode('a', { labels: zones.a }), aNode('b', { labels: zones.b })];
  const labels = { app: 'web' };
  const spread = (parts: Partial<NonNullable<PodSpec['topologySpreadConstraints']>[number]> = {}) => ({
    labels,
    topologySpreadConstraints: [
      {
        maxSkew: 1,
        topologyKey: ZONE,
        whenUnsatisfiable: 'DoNotSchedule' as const,
        labelSelector: { matchLabels: labels },
        ...parts,
      },
    ],
  });
  const refusal = "node(s) didn't match pod topology spread constraints";
  const web = (name: string, nodeName: string, parts: PodParts = {}) => aPod(name, { labels, nodeName, ...parts });
  const full = aNode('b', { labels: zones.b, allocatable: { pods: '0' } });

  it('keeps the difference between domains within its bounds', () => {
    const pods = [web('1', 'a')];
    expect(decide(aPod('p', spread()), nodes, pods)).toBe('b');
    expect(decide(aPod('p', spread()), [...nodes.slice(0, 1), full], pods)).toBe(
      `0/2 nodes are available: 1 Too many pods, 1 ${refusal}`,
    );
    expect(decide(aPod('p', spread({ maxSkew: 2 })), [...nodes.slice(0, 1), full], pods)).toBe('a');
  });

  it('does not count pods on their way out', () => {
    expect(decide(aPod('p', spread()), [...nodes.slice(0, 1), full], [web('1', 'a', { isLeaving: true })])).toBe('a');
  });

  it('counts missing domains as empty if it wants more of them', () => {
    const alone = nodes.slice(0, 1);
    expect(decide(aPod('p', spread()), alone, [web('1', 'a')])).toBe('a');
    expect(decide(aPod('p', spread({ minDomains: 2 })), alone, [web('1', 'a')])).toContain(refusal);
  });

  it('needs the label, and says if it is missing', () => {
    expect(decide(aPod('p', spread()), [aNode('c')])).toContain(`1 ${refusal} (missing required label)`);
  });

  it('leaves out nodes where the pod can not be, and tainted ones only if told so', () => {
    const pods = [web('1', 'a')];
    const selecting = { ...spread(), nodeSelector: { [ZONE]: 'a' } };
    expect(decide(aPod('p', selecting), nodes, pods)).toBe('a');
    const ignoring = { ...spread({ nodeAffinityPolicy: 'Ignore' }), nodeSelector: { [ZONE]: 'a' } };
    expect(decide(aPod('p', ignoring), nodes, pods)).toContain(refusal);
    const taints = [{ key: 'x', effect: 'NoSchedule' as const }];
    const tainted = [aNode('a', { labels: zones.a }), aNode('b', { labels: zones.b, spec: { taints } })];
    expect(decide(aPod('p', spread()), tainted, pods)).toContain(refusal);
    expect(decide(aPod('p', spread({ nodeTaintsPolicy: 'Honor' })), tainted, pods)).toBe('a');
  });

  it('that is only wished for decides between equals', () => {
    const pods = [web('1', 'a'), aPod('big', { nodeName: 'b', ...asking({ cpu: '1' }) })];
    expect(decide(aPod('p', spread({ whenUnsatisfiable: 'ScheduleAnyway' })), nodes, pods)).toBe('b');
  });

  it('is what the pods of a workload get who say nothing', () => {
    const owner = 'set';
    const pods = ['1', '2', '3', '4'].map((name) => aPod(name, { owner, nodeName: 'a' }));
    const busy = aPod('busy', { nodeName: 'b', ...asking({ cpu: '2' }) });
    expect(decide(aPod('p', { owner }), nodes, [...pods, busy])).toBe('b');
    expect(decide(aPod('p'), nodes, [...pods, busy])).toBe('a');
  });
});

describe('the claims of a pod', () => {
  const claim = (parts: Partial<PersistentVolumeClaim>): PersistentVolumeClaim => ({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'data', namespace: 'default', uid: 'u' },
    spec: { storageClassName: 'late', accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '2Gi' } } },
    ...parts,
  });
  const late = (provisioner: string): StorageClass => ({
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: { name: 'late' },
    provisioner,
    volumeBindingMode: 'WaitForFirstConsumer',
  });
  const volume = (name: string, zone: string, storage: string): PersistentVolume => ({
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name },
    spec: {
      capacity: { storage },
      accessModes: ['ReadWriteOnce'],
      storageClassName: 'late',
      nodeAffinity: {
        required: { nodeSelectorTerms: [{ matchExpressions: [{ key: ZONE, operator: 'In', values: [zone] }] }] },
      },
    },
    status: { phase: 'Available' },
  });
  const nodes = [aNode('a', { labels: zones.a }), aNode('b', { labels: zones.b })];
  const pod = aPod('p', { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }] });
  const decideWith = (storage: Partial<Storage>) =>
    decide(pod, nodes, [], { claims: [], volumes: [], classes: [], ...storage });

  it('have to exist, and to be bound unless they are bound late', () => {
    expect(decideWith({})).toBe('0/2 nodes are available: persistentvolumeclaim "data" not found');
    expect(decideWith({ claims: [claim({})] })).toBe(
      '0/2 nodes are available: pod has unbound immediate PersistentVolumeClaims',
    );
    const metadata = { name: 'data', deletionTimestamp: '2026-01-01T00:00:00Z' };
    expect(decideWith({ claims: [claim({ metadata })] })).toBe(
      '0/2 nodes are available: persistentvolumeclaim "data" is being deleted',
    );
  });

  it('tie it to where their volume is', () => {
    const bound = claim({ spec: { volumeName: 'pv' }, status: { phase: 'Bound' } });
    expect(decideWith({ claims: [bound], volumes: [volume('pv', 'b', '2Gi')] })).toBe('b');
    expect(decideWith({ claims: [bound], volumes: [volume('pv', 'c', '2Gi')] })).toBe(
      "0/2 nodes are available: 2 node(s) didn't match PersistentVolume's node affinity",
    );
    expect(decideWith({ claims: [bound] })).toContain('bound to non-existent pv(s)');
  });

  it('that are bound late get the smallest volume that will do, or one that is made', () => {
    const volumes = [volume('small', 'b', '1Gi'), volume('large', 'b', '9Gi'), volume('right', 'b', '2Gi')];
    const storage = { claims: [claim({})], volumes, classes: [late('kubernetes.io/no-provisioner')] };
    expect(place(pod, among(nodes, [], { storage }))).toMatchObject({
      node: 'b',
      claims: [{ volume: { metadata: { name: 'right' } } }],
    });
    expect(decideWith({ ...storage, volumes: [] })).toBe(
      "0/2 nodes are available: 2 node(s) didn't find available persistent volumes to bind",
    );
    const made = { claims: [claim({})], volumes: [], classes: [late('example.com/disks')] };
    expect(place(pod, among(nodes, [], { storage: made }))).toMatchObject({
      node: 'a',
      claims: [{ volume: undefined }],
    });
  });

  it('that are for one pod alone are not given to a second', () => {
    const spec = { volumeName: 'pv', accessModes: ['ReadWriteOncePod' as const] };
    const storage = {
      claims: [claim({ spec, status: { phase: 'Bound' } })],
      volumes: [volume('pv', 'b', '2Gi')],
      classes: [],
    };
    const other = aPod('other', { volumes: pod.spec?.volumes ?? [], nodeName: 'a' });
    expect(decide(pod, nodes, [], storage)).toBe('b');
    expect(decide(pod, nodes, [other], storage)).toContain('ReadWriteOncePod access mode already in-use');
  });

  it('keep the node that was selected for them', () => {
    const metadata = { name: 'data', annotations: { 'volume.kubernetes.io/selected-node': 'b' } };
    expect(decideWith({ claims: [claim({ metadata })], classes: [late('example.com/disks')] })).toBe('b');
  });
});

it('explains itself as the real scheduler does', () => {
  const nodes = [aNode('a', { spec: { unschedulable: true } }), aNode('b'), aNode('c', { allocatable: { cpu: '1' } })];
  const there = [aPod('x', { nodeName: 'c', ...asking({ cpu: '1' }) })];
  const pod = aPod('p', { nodeSelector: { [HOST]: 'c' }, ...asking({ cpu: '1' }) });
  const because = (one: Pod) => place(one, among(nodes, there));
  const reasons =
    "0/3 nodes are available: 1 Insufficient cpu, 1 node(s) didn't match Pod's node affinity/selector, 1 node(s) were unschedulable.";
  expect(because(pod)).toEqual({
    is: 'nowhere',
    because: `${reasons} no new claims to deallocate, preemption: 0/3 nodes are available: 1 No preemption victims found for incoming pod, 2 Preemption is not helpful for scheduling.`,
  });
  const { spec = { containers: [] }, ...rest } = pod;
  expect(because({ ...rest, spec: { ...spec, preemptionPolicy: 'Never' } })).toEqual({
    is: 'nowhere',
    because: `${reasons} no new claims to deallocate, preemption: not eligible due to preemptionPolicy=Never.`,
  });
});
