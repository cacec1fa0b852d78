import { DataFlow } from '@polder/dataflow';
import { type Client, Deployment, isNotFound, type Kind, type KubernetesObject, StatefulSet } from '@polder/kube';
import { QdrantCluster } from '@polder/qdrant';

/** A command for somebody who looks around, and what it shows. */
export interface Try {
  readonly command: string;
  readonly shows: string;
}

/** Of what the cluster has now, so that each of them works. */
export async function triesIn(client: Client, signal: AbortSignal): Promise<readonly Try[]> {
  const flows = await allOf(DataFlow, client, signal);
  if (flows.length > 0) return triesOfFlows(flows);
  const clusters = await allOf(QdrantCluster, client, signal);
  if (clusters.length > 0) return triesOfClusters(clusters);
  const [deployments, statefulSets] = await Promise.all([
    client.list(Deployment, { signal }),
    client.list(StatefulSet, { signal }),
  ]);
  return triesFor(deployments.items, statefulSets.items.filter(hasPods));
}

/** Without operators the kind may not be there. */
async function allOf<T extends KubernetesObject>(
  kind: Kind<T>,
  client: Client,
  signal: AbortSignal,
): Promise<readonly T[]> {
  try {
    return (await client.list(kind, { signal })).items;
  } catch (error) {
    if (isNotFound(error)) return [];
    throw error;
  }
}

/** The one that does most on the way is the one to play with. */
export function triesOfFlows(flows: readonly DataFlow[]): readonly Try[] {
  const [flow] = flows.toSorted((a, b) => stepsOf(b) - stepsOf(a));
  const name = flow?.metadata.name ?? '';
  return [
    { command: `kubectl get dataflows${at(flow)}`, shows: 'what flows, and how much could not' },
    {
      command: `kubectl get dataflow ${name} -o yaml${at(flow)} > ${name}.yaml`,
      shows: 'a flow, to try and to change',
    },
    {
      command: `echo '{"id":1,"paid":true,"card":"4111"}' | ./polder try -f ${name}.yaml`,
      shows: 'what it would make of a message',
    },
    { command: `./polder plan -f ${name}.yaml`, shows: 'what your change would do' },
    { command: `kubectl apply -f ${name}.yaml`, shows: 'do it' },
  ];
}

export function triesOfClusters(clusters: readonly QdrantCluster[]): readonly Try[] {
  const cluster = nearestOf(clusters);
  const { replicas = 1 } = cluster?.spec ?? {};
  const scale = (to: number) =>
    `kubectl patch qdrantcluster ${cluster?.metadata.name} --type merge -p '{"spec":{"replicas":${to}}}'${at(cluster)}`;
  return [
    {
      command: `kubectl get qdrantclusters -o wide${at(cluster)}`,
      shows: 'how they are, and what is being done to them',
    },
    { command: `kubectl get pods -o wide${at(cluster)}`, shows: 'where their peers are' },
    { command: scale(replicas + 2), shows: 'two more peers, which get their share of the shards' },
    { command: scale(replicas), shows: 'they leave again, and no point is lost' },
  ];
}

export function triesFor(
  deployments: readonly KubernetesObject[],
  statefulSets: readonly StatefulSet[],
): readonly Try[] {
  const deployment = nearestOf(deployments);
  const set = nearestOf(statefulSets);
  if (!deployment && !set) return FIRST_STEPS;
  const claims = (set?.spec?.volumeClaimTemplates ?? []).length > 0;
  return [
    { command: `kubectl get pods -o wide${at(deployment ?? set)}`, shows: 'what runs, where and how' },
    ...(deployment ? triesOf(deployment) : []),
    ...(set
      ? [
          {
            command: `kubectl delete pod ${set.metadata.name}-${set.spec?.ordinals?.start ?? 0}${at(set)}`,
            shows: `it comes back${claims ? ', with its volume' : ''}`,
          },
        ]
      : []),
  ];
}

const stepsOf = ({ spec: { transformations } }: DataFlow) =>
  Array.isArray(transformations) ? transformations.length : 0;

const FIRST_STEPS: readonly Try[] = [
  { command: 'kubectl get nodes', shows: 'what the cluster has' },
  { command: 'kubectl create deployment hello --image=nginx --replicas=2', shows: 'something to run' },
  { command: 'kubectl get pods -o wide', shows: 'what runs, where and how' },
];

const triesOf = (deployment: KubernetesObject): readonly Try[] => {
  const name = `deployment/${deployment.metadata.name}${at(deployment)}`;
  return [
    { command: `kubectl logs -f ${name}`, shows: 'what it writes' },
    { command: `kubectl rollout restart ${name}`, shows: 'new pods replace the old ones' },
  ];
};

const hasPods = ({ spec }: StatefulSet) => spec?.replicas !== 0;

/** Users look into the namespace `default` first. */
function nearestOf<T extends KubernetesObject>(objects: readonly T[]): T | undefined {
  return objects.find(({ metadata }) => metadata.namespace === 'default') ?? objects[0];
}

/** ` -n shop`: where kubectl would not look by itself. */
export function at(object: KubernetesObject | undefined): string {
  const { namespace = 'default' } = object?.metadata ?? {};
  return namespace === 'default' ? '' : ` -n ${namespace}`;
}
