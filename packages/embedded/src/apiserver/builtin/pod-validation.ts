import { isObject, type JsonObject } from '../schema/schema.ts';
import { validateAffinity, validateSpread } from './affinity.ts';
import { validateContainer } from './container-validation.ts';
import { duplicate, type Findings, forbidden, invalid, notSupported, oneOf, required } from './field-errors.ts';
import { isAbsent, numberAt, objectAt, objectsAt, textAt } from './fields.ts';
import { labels } from './metadata.ts';
import { label, qualifiedName } from './names.ts';
import { validatePodSecurity } from './security-context.ts';

const RESTART_POLICIES = ['Always', 'OnFailure', 'Never'];
const DNS_POLICIES = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'];
const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

/** The spec of a pod, wherever it stands. */
export function* validatePodSpec(field: string, spec: JsonObject): Findings {
  const volumes = objectsAt(spec, 'volumes');
  yield* validateVolumes(`${field}.volumes`, volumes);
  const mountable = new Set(volumes.map((volume) => textAt(volume, 'name')));
  const containers = objectsAt(spec, 'containers');
  if (containers.length === 0) yield required(`${field}.containers`);
  yield* validateContainers(`${field}.containers`, containers, mountable, new Set());
  const names = new Set(containers.map((container) => textAt(container, 'name')));
  yield* validateContainers(`${field}.initContainers`, objectsAt(spec, 'initContainers'), mountable, names);
  yield* oneOf(`${field}.restartPolicy`, textAt(spec, 'restartPolicy'), RESTART_POLICIES);
  yield* oneOf(`${field}.dnsPolicy`, textAt(spec, 'dnsPolicy'), DNS_POLICIES);
  yield* labels(`${field}.nodeSelector`, objectAt(spec, 'nodeSelector'));
  const deadline = numberAt(spec, 'activeDeadlineSeconds');
  if (deadline !== undefined && (deadline < 1 || deadline > 2 ** 31 - 1)) {
    yield invalid(`${field}.activeDeadlineSeconds`, deadline, 'must be between 1 and 2147483647, inclusive');
  }
  yield* validatePodSecurity(`${field}.securityContext`, objectAt(spec, 'securityContext'));
  yield* validateAffinity(`${field}.affinity`, objectAt(spec, 'affinity'));
  yield* validateSpread(`${field}.topologySpreadConstraints`, objectsAt(spec, 'topologySpreadConstraints'));
  for (const [index, toleration] of objectsAt(spec, 'tolerations').entries()) {
    yield* validateToleration(`${field}.tolerations[${index}]`, toleration);
  }
}

/** The template of a workload: its labels and its pod. */
export function* validateTemplate(field: string, template: JsonObject, restartPolicies: readonly string[]): Findings {
  yield* labels(`${field}.metadata.labels`, objectAt(template, 'metadata', 'labels'));
  yield* validatePodSpec(`${field}.spec`, objectAt(template, 'spec'));
  const policy = textAt(template, 'spec', 'restartPolicy');
  if (RESTART_POLICIES.includes(policy) && !restartPolicies.includes(policy)) {
    yield notSupported(`${field}.spec.restartPolicy`, policy, restartPolicies);
  }
}

function* validateContainers(
  field: string,
  containers: readonly JsonObject[],
  volumes: ReadonlySet<string>,
  taken: ReadonlySet<string>,
): Findings {
  const names = new Set(taken);
  for (const [index, container] of containers.entries()) {
    yield* validateContainer(`${field}[${index}]`, container, volumes);
    const name = textAt(container, 'name');
    if (name !== '' && names.has(name)) yield duplicate(`${field}[${index}].name`, name);
    names.add(name);
  }
}

function* validateVolumes(field: string, volumes: readonly JsonObject[]): Findings {
  const names = new Set<string>();
  for (const [index, volume] of volumes.entries()) {
    const at = `${field}[${index}]`;
    const name = textAt(volume, 'name');
    if (name === '') yield required(`${at}.name`);
    else for (const message of label(name)) yield invalid(`${at}.name`, name, message);
    if (name !== '' && names.has(name)) yield duplicate(`${at}.name`, name);
    names.add(name);
    const sources = Object.keys(volume).filter((source) => source !== 'name' && isObject(volume[source]));
    for (const source of sources.slice(1)) {
      yield forbidden(`${at}.${source}`, 'may not specify more than 1 volume type');
    }
    const [source = ''] = sources;
    const reference = REFERENCE[source];
    if (reference !== undefined && textAt(volume, source, reference) === '')
      yield required(`${at}.${source}.${reference}`);
  }
}

/** Sources that are nothing without a name or a path. */
const REFERENCE: Readonly<Record<string, string>> = {
  secret: 'secretName',
  configMap: 'name',
  persistentVolumeClaim: 'claimName',
  hostPath: 'path',
  csi: 'driver',
};

function* validateToleration(field: string, toleration: JsonObject): Findings {
  const [key, operator, value] = ['key', 'operator', 'value'].map((name) => textAt(toleration, name));
  if (key) for (const message of qualifiedName(key)) yield invalid(`${field}.key`, key, message);
  if (!key && operator !== 'Exists') {
    const detail = 'operator must be Exists when `key` is empty, which means "match all values and all keys"';
    yield invalid(`${field}.operator`, operator, detail);
  }
  const effect = textAt(toleration, 'effect');
  if (!isAbsent(toleration['tolerationSeconds']) && effect !== 'NoExecute') {
    yield invalid(`${field}.effect`, effect, "effect must be 'NoExecute' when `tolerationSeconds` is set");
  }
  if (operator === 'Exists' && value) {
    yield invalid(`${field}.operator`, value, "value must be empty when `operator` is 'Exists'");
  }
  if (operator) yield* oneOf(`${field}.operator`, operator, ['Equal', 'Exists']);
  if (effect !== '') yield* oneOf(`${field}.effect`, effect, EFFECTS);
}
