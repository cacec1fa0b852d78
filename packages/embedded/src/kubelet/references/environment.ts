import type { ConfigMap, Container, EnvVarSource, Pod, Probe, Secret } from '@polder/kube';
import { StartFailure } from '../runner.ts';
import { expandKnown } from './expansion.ts';
import { containerResource, podField, UnresolvedReference } from './pod-fields.ts';
import type { Facts, References } from './references.ts';

/** What a container is started with, when everything it refers to has been looked up. */
export interface Environment {
  readonly env: ReadonlyMap<string, string>;
  readonly command: readonly string[] | undefined;
  readonly args: readonly string[] | undefined;
}

/** Fails with `StartFailure` if something that is not optional is missing. */
export function environmentOf(pod: Pod, container: Container, references: References, facts: Facts): Environment {
  try {
    const env = variablesOf(pod, container, references, facts);
    const expanded = (words: readonly string[] | undefined) =>
      words === undefined || words.length === 0 ? undefined : words.map((word) => expandKnown(word, env));
    return { env, command: expanded(container.command), args: expanded(container.args) };
  } catch (error) {
    if (!(error instanceof UnresolvedReference)) throw error;
    throw new StartFailure('CreateContainerConfigError', error.message, { cause: error });
  }
}

/** The command of an exec probe. The real kubelet takes variables as they are written in the pod: the others are empty. */
export function probeCommand({ exec }: Probe, { env = [] }: Container): readonly string[] {
  const known = new Map(env.map(({ name, value = '' }) => [name, value]));
  return (exec?.command ?? []).map((word) => expandKnown(word, known));
}

function variablesOf(pod: Pod, container: Container, references: References, facts: Facts): Map<string, string> {
  const env = new Map<string, string>();
  for (const { prefix = '', configMapRef, secretRef } of container.envFrom ?? []) {
    const configMap = configMapRef && find(references.configMaps, 'configmap', configMapRef);
    const secret = secretRef && find(references.secrets, 'secret', secretRef);
    for (const [key, value] of Object.entries(configMap?.data ?? {})) env.set(prefix + key, value);
    for (const [key, value] of Object.entries(secret?.data ?? {})) env.set(prefix + key, decoded(value));
  }
  for (const { name, value = '', valueFrom } of container.env ?? []) {
    const found =
      value === '' && valueFrom ? sourceValue(pod, container, valueFrom, references, facts) : expandKnown(value, env);
    if (found !== undefined) env.set(name, found);
  }
  return env;
}

/** Undefined: there is no such variable, and that is allowed. */
function sourceValue(
  pod: Pod,
  container: Container,
  { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef }: EnvVarSource,
  references: References,
  facts: Facts,
): string | undefined {
  if (fieldRef) return podField(pod, fieldRef.fieldPath, facts);
  if (resourceFieldRef) return containerResource(pod, container, resourceFieldRef, facts);
  if (configMapKeyRef) {
    const data = find(references.configMaps, 'configmap', configMapKeyRef)?.data;
    return valueOf(pod, 'ConfigMap', data, configMapKeyRef);
  }
  if (secretKeyRef) {
    const data = find(references.secrets, 'secret', secretKeyRef)?.data;
    const value = valueOf(pod, 'Secret', data, secretKeyRef);
    return value === undefined ? undefined : decoded(value);
  }
  if (fileKeyRef) throw new UnresolvedReference('fileKeyRef is not supported: use configMapKeyRef or secretKeyRef');
  return '';
}

interface ObjectReference {
  readonly name?: string;
  readonly optional?: boolean;
}

function find<T extends ConfigMap | Secret>(
  objects: ReadonlyMap<string, T>,
  kind: string,
  { name = '', optional = false }: ObjectReference,
): T | undefined {
  const object = objects.get(name);
  if (object === undefined && !optional) throw new UnresolvedReference(`${kind} ${JSON.stringify(name)} not found`);
  return object;
}

function valueOf(
  { metadata }: Pod,
  kind: string,
  data: Readonly<Record<string, string>> | undefined,
  { name = '', key, optional = false }: ObjectReference & { readonly key: string },
): string | undefined {
  const value = data?.[key];
  if (value === undefined && !optional) {
    throw new UnresolvedReference(`couldn't find key ${key} in ${kind} ${metadata.namespace}/${name}`);
  }
  return value;
}

const decoded = (base64: string) => Buffer.from(base64, 'base64').toString();
