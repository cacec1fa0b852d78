/** What makes a pod this member of its set, and no other: its name, its labels, its host name and its claims. */
import { type NewObject, type Pod, type PodSpec, StatefulSet, type Volume } from '@polder/kube';
import { newPod } from '../pods/index.ts';
import type { Revision } from '../revisions/index.ts';
import { claimName } from './claims.ts';
import { wantedOf } from './wanted.ts';

const NAME_LABEL = 'statefulset.kubernetes.io/pod-name';
const INDEX_LABEL = 'apps.kubernetes.io/pod-index';
const REVISION_LABEL = 'controller-revision-hash';

export const memberName = ({ metadata }: StatefulSet, ordinal: number) => `${metadata.name}-${ordinal}`;

/** Undefined if no member of the set can have the pod's name. */
export function ordinalOf(set: StatefulSet, pod: Pod): number | undefined {
  const ordinal = Number(/-(\d+)$/.exec(pod.metadata.name)?.[1]);
  return memberName(set, ordinal) === pod.metadata.name ? ordinal : undefined;
}

export const revisionOf = ({ metadata }: Pod) => metadata.labels?.[REVISION_LABEL] ?? '';

export function newMember(set: StatefulSet, ordinal: number, { name: revision, template }: Revision): NewObject<Pod> {
  const pod = newPod(StatefulSet, set, template);
  const name = memberName(set, ordinal);
  const { serviceName } = wantedOf(set);
  const spec: PodSpec = {
    ...(template.spec ?? { containers: [] }),
    hostname: name,
    ...(serviceName !== '' && { subdomain: serviceName }),
    ...withClaims(set, ordinal, template.spec?.volumes),
  };
  const labels = { ...pod.metadata.labels, ...identityLabels(set, ordinal), [REVISION_LABEL]: revision };
  return { ...pod, metadata: { ...pod.metadata, name, labels }, spec };
}

/** What of a member has to be put right, as a patch; undefined if it is who it should be. */
export function identityPatch(set: StatefulSet, ordinal: number, { metadata, spec }: Pod): object | undefined {
  const labels = identityLabels(set, ordinal);
  const isNamed = metadata.labels?.[NAME_LABEL] === labels[NAME_LABEL];
  const volumes = new Map(spec?.volumes?.map((volume) => [volume.name, volume.persistentVolumeClaim?.claimName]));
  const { claimTemplates } = wantedOf(set);
  const isStored = claimTemplates.every((one) => volumes.get(one.metadata.name) === claimName(set, one, ordinal));
  if (isNamed && isStored) return undefined;
  // A pod that was taken in without its claims can't be given them: the server refuses, and says so in an event.
  return { metadata: { labels }, ...(!isStored && { spec: withClaims(set, ordinal, spec?.volumes) }) };
}

const identityLabels = (set: StatefulSet, ordinal: number) => ({
  [NAME_LABEL]: memberName(set, ordinal),
  [INDEX_LABEL]: String(ordinal),
});

/** A volume of the template that has a claim's name gives way to the claim. */
function withClaims(set: StatefulSet, ordinal: number, others: readonly Volume[] = []): Pick<PodSpec, 'volumes'> {
  const { claimTemplates } = wantedOf(set);
  const claims = claimTemplates.map((template): Volume => {
    const { name } = template.metadata;
    return { name, persistentVolumeClaim: { claimName: claimName(set, template, ordinal) } };
  });
  const names = new Set(claims.map(({ name }) => name));
  const volumes = [...claims, ...others.filter(({ name }) => !names.has(name))];
  return volumes.length > 0 ? { volumes } : {};
}
