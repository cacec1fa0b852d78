import { isObject, type JsonObject } from '../schema/schema.ts';
import { edit, editEach, fill, isAbsent, objectAt, textAt, valueAt } from './fields.ts';
import { canonical } from './quantity.ts';

/** What the server fills into the spec of a pod, wherever it stands: in a Pod or in the template of a workload. */
export function podSpec(spec: JsonObject): JsonObject {
  let filled = fill(spec, {
    dnsPolicy: 'ClusterFirst',
    restartPolicy: 'Always',
    schedulerName: 'default-scheduler',
    securityContext: {},
    terminationGracePeriodSeconds: 30,
  });
  for (const list of ['initContainers', 'containers', 'ephemeralContainers'])
    filled = editEach(filled, list, container);
  filled = editEach(filled, 'volumes', volume);
  const account = textAt(filled, 'serviceAccountName') || textAt(filled, 'serviceAccount');
  // `serviceAccount` is the old name of the field; the server keeps both in step.
  return account === '' ? filled : { ...filled, serviceAccount: account, serviceAccountName: account };
}

export function podTemplate(template: JsonObject): JsonObject {
  return edit({ ...template, metadata: objectAt(template, 'metadata') }, 'spec', podSpec);
}

/** The template in an object's spec. */
export function withTemplate(spec: JsonObject): JsonObject {
  return edit(spec, 'template', podTemplate);
}

function container(container: JsonObject): JsonObject {
  let filled = fill(container, {
    imagePullPolicy: pullPolicy(textAt(container, 'image')),
    resources: {},
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
  });
  filled = edit(filled, 'resources', resources);
  filled = editEach(filled, 'ports', (port) => fill(port, { protocol: 'TCP' }));
  filled = editEach(filled, 'env', environmentVariable);
  for (const name of ['livenessProbe', 'readinessProbe', 'startupProbe']) filled = edit(filled, name, probe);
  return edit(filled, 'lifecycle', (lifecycle) =>
    ['postStart', 'preStop'].reduce((changed, hook) => edit(changed, hook, handler), lifecycle),
  );
}

/** An image that may change under its name is always pulled. */
function pullPolicy(image: string): 'Always' | 'IfNotPresent' {
  if (image.includes('@')) return 'IfNotPresent';
  const tag = /:([^/:]+)$/.exec(image)?.[1] ?? 'latest';
  return tag === 'latest' ? 'Always' : 'IfNotPresent';
}

/** Amounts in the server's own spelling. */
export function resources(requirements: JsonObject): JsonObject {
  return ['limits', 'requests'].reduce((changed, list) => edit(changed, list, amounts), requirements);
}

export function amounts(list: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(list).map(([name, amount]) => [name, canonical(amount)]));
}

/** A limit without a request is the request as well. Pods only: templates stay as they were written. */
export function requestsFromLimits(container: JsonObject): JsonObject {
  return edit(container, 'resources', (requirements) => {
    const limits = objectAt(requirements, 'limits');
    if (Object.keys(limits).length === 0) return requirements;
    return { ...requirements, requests: fill(objectAt(requirements, 'requests'), limits) };
  });
}

function environmentVariable(variable: JsonObject): JsonObject {
  return edit(variable, 'valueFrom', (source) => {
    const withField = edit(source, 'fieldRef', (reference) => fill(reference, { apiVersion: 'v1' }));
    return edit(withField, 'resourceFieldRef', (reference) => fill(reference, { divisor: '0' }));
  });
}

function probe(probe: JsonObject): JsonObject {
  return fill(handler(probe), { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 });
}

function handler(handler: JsonObject): JsonObject {
  const withHttp = edit(handler, 'httpGet', (get) => fill(get, { path: '/', scheme: 'HTTP' }));
  return edit(withHttp, 'grpc', (grpc) => fill(grpc, { service: '' }));
}

const DEFAULT_MODE = { defaultMode: 0o644 };

function volume(volume: JsonObject): JsonObject {
  const hasSource = Object.keys(volume).some((name) => name !== 'name' && !isAbsent(volume[name]));
  let filled: JsonObject = hasSource ? volume : { ...volume, emptyDir: {} };
  for (const source of ['configMap', 'secret', 'downwardAPI', 'projected']) {
    filled = edit(filled, source, (value) => fill(value, DEFAULT_MODE));
  }
  filled = edit(filled, 'downwardAPI', downwardItems);
  filled = edit(filled, 'projected', (projected) => editEach(projected, 'sources', projectedSource));
  filled = edit(filled, 'hostPath', (path) => fill(path, { type: '' }));
  filled = edit(filled, 'emptyDir', (dir) =>
    isAbsent(valueAt(dir, 'sizeLimit')) ? dir : { ...dir, sizeLimit: canonical(valueAt(dir, 'sizeLimit') ?? '') },
  );
  return edit(filled, 'ephemeral', (ephemeral) =>
    edit(ephemeral, 'volumeClaimTemplate', (template) =>
      edit({ ...template, metadata: objectAt(template, 'metadata') }, 'spec', claimSpec),
    ),
  );
}

function projectedSource(source: JsonObject): JsonObject {
  const withToken = edit(source, 'serviceAccountToken', (token) => fill(token, { expirationSeconds: 3600 }));
  return edit(withToken, 'downwardAPI', downwardItems);
}

function downwardItems(source: JsonObject): JsonObject {
  return editEach(source, 'items', (item) => edit(item, 'fieldRef', (field) => fill(field, { apiVersion: 'v1' })));
}

/** The spec of a claim, wherever it stands. */
export function claimSpec(spec: JsonObject): JsonObject {
  const filled = edit(fill(spec, { volumeMode: 'Filesystem', resources: {} }), 'resources', resources);
  const source = filled['dataSource'] ?? filled['dataSourceRef'];
  // The two fields mean the same to the server, which keeps them in step (unless one names another namespace).
  if (!isObject(source) || textAt(source, 'namespace') !== '') return filled;
  const whole = { ...source, apiGroup: source['apiGroup'] ?? null };
  return { ...filled, dataSource: whole, dataSourceRef: whole };
}
