import type { Pod, Volume as VolumeSpec } from '@polder/kube';
import type { Volume } from '../runner.ts';
import { UnresolvedReference } from './pod-fields.ts';
import type { Facts, References } from './references.ts';
import { configMapFiles, downwardFiles, projectedFiles, secretFiles } from './volume-files.ts';

/** The volumes of a pod that could be resolved, and for each other one why not: the notes of `FailedMount` events. */
export interface ResolvedVolumes {
  readonly volumes: readonly Volume[];
  readonly failures: readonly string[];
}

/** Only what a container mounts: what nobody uses may be missing. */
export function volumesOf(pod: Pod, references: References, facts: Facts): ResolvedVolumes {
  const volumes: Volume[] = [];
  const failures: string[] = [];
  const mounted = mountedVolumes(pod);
  for (const volume of pod.spec?.volumes?.filter(({ name }) => mounted.has(name)) ?? []) {
    try {
      volumes.push(resolve(pod, volume, references, facts));
    } catch (error) {
      if (!(error instanceof UnresolvedReference)) throw error;
      failures.push(failure(volume, error.message));
    }
  }
  return { volumes, failures };
}

function mountedVolumes({ spec }: Pod): ReadonlySet<string> {
  const { containers = [], initContainers = [], ephemeralContainers = [] } = spec ?? {};
  const all = [...initContainers, ...containers, ...ephemeralContainers];
  return new Set(all.flatMap(({ volumeMounts = [] }) => volumeMounts.map(({ name }) => name)));
}

/** A claim is looked at before anything is mounted, and has other words. */
function failure({ name, persistentVolumeClaim }: VolumeSpec, because: string): string {
  return persistentVolumeClaim
    ? `Unable to attach or mount volumes: unmounted volumes=[${name}], unattached volumes=[], failed to process volumes=[${name}]: ${because}`
    : `MountVolume.SetUp failed for volume ${JSON.stringify(name)} : ${because}`;
}

const DEFAULT_MODE = 0o644;

function resolve(pod: Pod, volume: VolumeSpec, references: References, facts: Facts): Volume {
  const { name, configMap, secret, projected, downwardAPI, emptyDir, persistentVolumeClaim, hostPath } = volume;
  if (configMap) {
    const { name: of = '', defaultMode = DEFAULT_MODE } = configMap;
    return { name, is: 'files', files: configMapFiles(references.configMaps.get(of), of, configMap, defaultMode) };
  }
  if (secret) {
    const { secretName: of = '', defaultMode = DEFAULT_MODE } = secret;
    return { name, is: 'files', files: secretFiles(references.secrets.get(of), of, secret, defaultMode) };
  }
  if (projected) {
    const { sources, defaultMode = DEFAULT_MODE } = projected;
    return { name, is: 'files', files: projectedFiles(pod, sources, defaultMode, references, facts) };
  }
  if (downwardAPI) {
    const { items, defaultMode = DEFAULT_MODE } = downwardAPI;
    return { name, is: 'files', files: downwardFiles(pod, items, defaultMode, facts) };
  }
  if (emptyDir) return { name, is: 'empty' };
  if (persistentVolumeClaim) return claimVolume(pod, name, persistentVolumeClaim.claimName, references);
  if (hostPath) return { name, is: 'host', path: hostPath.path };
  const kind = Object.keys(volume).find((field) => field !== 'name');
  // The real server turns a volume without a source into an empty directory.
  if (kind === undefined) return { name, is: 'empty' };
  throw new UnresolvedReference(`volumes of the kind ${kind} are not supported`);
}

function claimVolume({ metadata }: Pod, volume: string, name: string, { claims, volumes }: References): Volume {
  const namespace = metadata.namespace ?? '';
  const problem = (because: string) => new UnresolvedReference(`error processing PVC ${namespace}/${name}: ${because}`);
  const claim = claims.get(name);
  if (claim === undefined) {
    throw problem(`failed to fetch PVC from API server: persistentvolumeclaims ${JSON.stringify(name)} not found`);
  }
  const { volumeName = '' } = claim.spec ?? {};
  if (claim.status?.phase !== 'Bound' || volumeName === '') throw problem('PVC is not bound');
  const bound = volumes.get(volumeName);
  if (bound === undefined) throw problem(`persistentvolume ${JSON.stringify(volumeName)} not found`);
  const { hostPath, local } = bound.spec ?? {};
  return { name: volume, is: 'claim', volumeName, path: hostPath?.path ?? local?.path };
}
