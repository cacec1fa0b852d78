import { type Client, Deployment, type KubernetesObject, StatefulSet } from '@polder/kube';

/** A command for somebody who looks around, and what it shows. */
export interface Try {
  readonly command: string;
  readonly shows: string;
}

/** Of what the cluster has now, so that each of them works. */
export async function triesIn(client: Client, signal: AbortSignal): Promise<readonly Try[]> {
  const [deployments, statefulSets] = await Promise.all([
    client.list(Deployment, { signal }),
    client.list(StatefulSet, { signal }),
  ]);
  return triesFor(deployments.items, statefulSets.items.filter(hasPods));
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
