import { isDeepStrictEqual } from 'node:util';
import { describeErrors, joinSecrets, type Normalised, normalise, validate } from '@polder/engine/spec';
import { type KubernetesObject, keyOf } from '@polder/kube';
import { type DataFlow, type GivenSpec, LONGEST_NAME } from '../kinds/index.ts';
import { NAME_LABEL, type SpecFiles, specFiles, type Workload } from '../objects/index.ts';
import type { Children, Observed } from '../observe.ts';
import { once } from '../once.ts';
import type { Settings } from '../settings.ts';
import { blocked, type Health, waiting } from './health.ts';
import { resolveSecrets } from './secrets.ts';

/** A flow that can run, but for how many processors it should have now. */
export type Runnable = Omit<Workload, 'replicas'>;

export type Admission =
  | { readonly isAdmitted: true; readonly runnable: Runnable }
  /** What is in the way. Whatever runs keeps running as it was: an error in a spec is no reason to stop a flow. */
  | { readonly isAdmitted: false; readonly health: Health };

/** Whether a flow can be run as its spec says: the same judgement as at the door of the cluster, which may have been open. */
export function admit(flow: DataFlow, observed: Observed, settings: Settings): Admission {
  const refused = (reason: string, because: string, phase: 'Pending' | 'Error' = 'Error'): Admission => ({
    isAdmitted: false,
    health: blocked(phase, reason, because),
  });
  const problems = problemsOf(flow);
  if (problems !== '') return refused('InvalidSpec', problems);

  const stranger = strangerAmong(flow, observed.children);
  if (stranger) return { isAdmitted: false, health: stranger };

  const resolution = resolveSecrets(flow, observed.secrets, settings.secretNamespaces);
  if (resolution.is === 'unresolved') {
    return refused('SecretResolutionFailed', `Failed to resolve secrets: ${resolution.because}`);
  }
  const secrets = resolution.values;
  const { normalised, files } = joined(flow.spec, secrets, settings.inlineSecrets);
  if (!normalised.isValid) return refused('InvalidSpec', describeErrors(normalised.errors));

  const { spec } = normalised;
  const image = imageOf(spec, observed);
  if (!image.known) return refused('ImageUnknown', `Processor has no image: ${image.because}`, 'Pending');
  return {
    isAdmitted: true,
    runnable: {
      spec,
      secrets,
      files,
      image: image.value,
      isCheckpointed: spec.checkpointPersistence && spec.source.type !== 'kafka',
      logLevel: settings.processorLogLevel,
      progressTimeoutSeconds: settings.progressTimeoutSeconds,
    },
  };
}

/** Judged once: a flow is looked at far more often than its spec changes, and until then the cache has the same one. */
const verdictOn = once((spec: GivenSpec) => validate(spec));

function problemsOf({ metadata, spec }: DataFlow): string {
  const { errors } = verdictOn(spec);
  if (metadata.name.length <= LONGEST_NAME) return describeErrors(errors);
  const detail = `must have at most ${LONGEST_NAME} characters`;
  return describeErrors([{ type: 'Invalid value', field: 'metadata.name', value: metadata.name, detail }, ...errors]);
}

interface Joined {
  readonly secrets: ReadonlyMap<string, string>;
  readonly isInline: boolean;
  readonly normalised: Normalised;
  readonly files: SpecFiles;
}

const lastJoined = new WeakMap<GivenSpec, Joined>();

/** A spec with its secrets, for the processor. Done once as well, until a secret is another. */
function joined(spec: GivenSpec, secrets: ReadonlyMap<string, string>, isInline: boolean): Joined {
  const last = lastJoined.get(spec);
  if (last && last.isInline === isInline && isDeepStrictEqual(last.secrets, secrets)) return last;
  const normalised = normalise(joinSecrets(spec, secrets));
  const made = { secrets, isInline, normalised, files: specFiles(spec, secrets, isInline) };
  lastJoined.set(spec, made);
  return made;
}

/**
 * An object that has the name of one of ours and is somebody else's. One that nobody controls and that has our label was left
 * behind when its flow was deleted without what it owned, which is how a checkpoint is kept for a successor: that is ours.
 */
function strangerAmong({ kind, metadata }: DataFlow, children: Children): Health | undefined {
  const all: readonly (KubernetesObject | undefined)[] = Object.values(children);
  for (const child of all) {
    const owner = child?.metadata.ownerReferences?.find(({ controller }) => controller);
    const isOurs = owner ? owner.uid === metadata.uid : child?.metadata.labels?.[NAME_LABEL] === metadata.name;
    if (!child || isOurs) continue;
    const what = `${child.kind} ${keyOf(child.metadata)}`;
    if (owner?.kind === kind && owner.name === metadata.name)
      return waiting('Pending', `${what} of the DataFlow that had this name before is not gone yet`);
    const whose = owner ? `${owner.kind} ${owner.name}` : 'nobody we know';
    return blocked('Error', 'NameTaken', `${what} belongs to ${whose}; delete it, or give the flow another name`);
  }
  return undefined;
}

function imageOf({ processorImage, processorVersion }: Runnable['spec'], { image }: Observed): Observed['image'] {
  const base = processorImage === undefined ? image : { known: true as const, value: processorImage };
  if (!base.known || processorVersion === undefined) return base;
  return { known: true, value: `${untagged(base.value)}:${processorVersion}` };
}

/** The tag or digest follows the last colon or @ behind the last slash: the port of a registry is none. */
const untagged = (image: string) => image.replace(/(@[^/]*|:[^/:]*)$/, '');
