import { isObject, type JsonObject } from '../schema/schema.ts';
import {
  duplicate,
  type Findings,
  forbidden,
  invalid,
  notFound,
  notNegative,
  oneOf,
  portNumber,
  required,
} from './field-errors.ts';
import { listAt, numberAt, objectAt, objectsAt, textAt, valueAt } from './fields.ts';
import { configKey, environmentName, label, portName, qualifiedName, subdomain } from './names.ts';
import { formatQuantity, parseQuantity } from './quantity.ts';
import { validateContainerSecurity } from './security-context.ts';

export const PROTOCOLS = ['SCTP', 'TCP', 'UDP'];
const PULL_POLICIES = ['Always', 'IfNotPresent', 'Never'];

/** `volumes` are the names that the pod declares. */
export function* validateContainer(field: string, container: JsonObject, volumes: ReadonlySet<string>): Findings {
  const name = textAt(container, 'name');
  if (name === '') yield required(`${field}.name`);
  else for (const message of label(name)) yield invalid(`${field}.name`, name, message);
  const image = textAt(container, 'image');
  if (image === '') yield required(`${field}.image`);
  if (image !== image.trim()) yield invalid(`${field}.image`, image, 'must not have leading or trailing whitespace');
  const policy = textAt(container, 'terminationMessagePolicy');
  yield* oneOf(`${field}.terminationMessagePolicy`, policy, ['File', 'FallbackToLogsOnError']);
  yield* validatePorts(`${field}.ports`, objectsAt(container, 'ports'));
  for (const [index, variable] of objectsAt(container, 'env').entries()) {
    yield* validateVariable(`${field}.env[${index}]`, variable);
  }
  yield* validateEnvFrom(`${field}.envFrom`, objectsAt(container, 'envFrom'));
  yield* validateMounts(`${field}.volumeMounts`, objectsAt(container, 'volumeMounts'), volumes);
  yield* oneOf(`${field}.imagePullPolicy`, textAt(container, 'imagePullPolicy'), PULL_POLICIES);
  yield* validateResources(`${field}.resources`, objectAt(container, 'resources'));
  yield* validateProbe(`${field}.livenessProbe`, container['livenessProbe'], true);
  yield* validateProbe(`${field}.readinessProbe`, container['readinessProbe'], false);
  yield* validateProbe(`${field}.startupProbe`, container['startupProbe'], true);
  yield* validateContainerSecurity(`${field}.securityContext`, objectAt(container, 'securityContext'));
}

function* validatePorts(field: string, ports: readonly JsonObject[]): Findings {
  const names = new Set<string>();
  for (const [index, port] of ports.entries()) {
    const at = `${field}[${index}]`;
    const name = textAt(port, 'name');
    if (name !== '') {
      for (const message of portName(name)) yield invalid(`${at}.name`, name, message);
      if (names.has(name)) yield duplicate(`${at}.name`, name);
      names.add(name);
    }
    const number = numberAt(port, 'containerPort') ?? 0;
    if (number === 0) yield required(`${at}.containerPort`);
    else yield* portNumber(`${at}.containerPort`, number);
    const hostPort = numberAt(port, 'hostPort') ?? 0;
    if (hostPort !== 0) yield* portNumber(`${at}.hostPort`, hostPort);
    yield* oneOf(`${at}.protocol`, textAt(port, 'protocol'), PROTOCOLS);
  }
}

const SOURCES = ['fieldRef', 'resourceFieldRef', 'configMapKeyRef', 'secretKeyRef', 'fileKeyRef'];

/** What a pod knows of itself; labels and annotations also one by one: `metadata.labels['app']`. */
const POD_FIELDS =
  /^(metadata\.(name|namespace|uid|(labels|annotations)\['[^']+'\])|spec\.(nodeName|serviceAccountName)|status\.(hostIP|hostIPs|podIP|podIPs))$/;

function* validateVariable(field: string, variable: JsonObject): Findings {
  const name = textAt(variable, 'name');
  if (name === '') yield required(`${field}.name`);
  else for (const message of environmentName(name)) yield invalid(`${field}.name`, name, message);
  const from = variable['valueFrom'];
  if (!isObject(from)) return;
  const sources = SOURCES.filter((source) => isObject(from[source]));
  const at = `${field}.valueFrom`;
  if (sources.length === 0) {
    const names = SOURCES.map((source) => `\`${source}\``);
    yield invalid(at, '', `must specify one of: ${names.slice(0, -1).join(', ')} or ${names.at(-1)}`);
  } else if (textAt(variable, 'value') !== '') {
    yield invalid(at, '', 'may not be specified when `value` is not empty');
  } else if (sources.length > 1) {
    yield invalid(at, '', 'may not have more than one field specified at a time');
  }
  if (isObject(from['fieldRef'])) {
    const path = textAt(from, 'fieldRef', 'fieldPath');
    if (path === '') yield required(`${at}.fieldRef.fieldPath`);
    else if (!POD_FIELDS.test(path)) {
      const detail = `error converting fieldPath: field label not supported: ${path}`;
      yield invalid(`${at}.fieldRef.fieldPath`, path, detail);
    }
  }
  for (const source of ['configMapKeyRef', 'secretKeyRef']) {
    if (isObject(from[source])) yield* validateKeyReference(`${at}.${source}`, from[source]);
  }
}

function* validateKeyReference(field: string, reference: JsonObject): Findings {
  const [name, key] = [textAt(reference, 'name'), textAt(reference, 'key')];
  for (const message of subdomain(name)) yield invalid(`${field}.name`, name, message);
  if (key === '') yield required(`${field}.key`);
  else for (const message of configKey(key)) yield invalid(`${field}.key`, key, message);
}

function* validateEnvFrom(field: string, list: readonly JsonObject[]): Findings {
  for (const [index, from] of list.entries()) {
    const sources = ['configMapRef', 'secretRef'].filter((source) => isObject(from[source]));
    for (const source of sources) {
      if (textAt(from, source, 'name') === '') yield required(`${field}[${index}].${source}.name`);
    }
    if (sources.length === 0) yield invalid(field, '', 'must specify one of: `configMapRef` or `secretRef`');
    if (sources.length > 1) yield invalid(field, '', 'may not have more than one field specified at a time');
  }
}

function* validateMounts(field: string, mounts: readonly JsonObject[], volumes: ReadonlySet<string>): Findings {
  const paths = new Set<string>();
  for (const [index, mount] of mounts.entries()) {
    const at = `${field}[${index}]`;
    const [name, path] = [textAt(mount, 'name'), textAt(mount, 'mountPath')];
    if (name === '') yield required(`${at}.name`);
    if (!volumes.has(name)) yield notFound(`${at}.name`, name);
    if (path === '') yield required(`${at}.mountPath`);
    if (paths.has(path)) yield invalid(`${at}.mountPath`, path, 'must be unique');
    paths.add(path);
    const subPath = textAt(mount, 'subPath');
    // The real server forgets the index here.
    if (subPath.split('/').includes('..')) yield invalid(`${field}.subPath`, subPath, "must not contain '..'");
    if (subPath.startsWith('/')) yield invalid(`${field}.subPath`, subPath, 'must be a relative path');
  }
}

const RESOURCES = ['cpu', 'memory', 'ephemeral-storage'];

function* validateResources(field: string, resources: JsonObject): Findings {
  const limits = objectAt(resources, 'limits');
  const requests = objectAt(resources, 'requests');
  for (const name of Object.keys(limits)) yield* validateAmount(`${field}.limits[${name}]`, name, limits[name]);
  for (const name of Object.keys(requests)) {
    yield* validateAmount(`${field}.requests[${name}]`, name, requests[name]);
    const [request, limit] = [parseQuantity(requests[name]), parseQuantity(limits[name])];
    // Devices and huge pages cannot be promised twice.
    const isExact = !RESOURCES.includes(name);
    if (request && limit && (isExact ? request.nanos !== limit.nanos : request.nanos > limit.nanos)) {
      const rule = isExact ? 'equal to' : 'less than or equal to';
      yield invalid(
        `${field}.requests`,
        formatQuantity(request),
        `must be ${rule} ${name} limit of ${formatQuantity(limit)}`,
      );
    }
  }
}

function* validateAmount(field: string, name: string, amount: unknown): Findings {
  for (const message of qualifiedName(name)) yield invalid(field, name, message);
  if (!name.includes('/') && !RESOURCES.includes(name) && !name.startsWith('hugepages-')) {
    yield invalid(field, name, 'must be a standard resource type or fully qualified');
    yield invalid(field, name, 'must be a standard resource for containers');
  }
  const quantity = parseQuantity(amount);
  if (quantity && quantity.nanos < 0n) {
    yield invalid(field, formatQuantity(quantity), 'must be greater than or equal to 0');
  }
}

const HANDLERS = ['exec', 'httpGet', 'tcpSocket', 'grpc'];
const PROBE_NUMBERS = [
  'initialDelaySeconds',
  'timeoutSeconds',
  'periodSeconds',
  'successThreshold',
  'failureThreshold',
];

function* validateProbe(field: string, probe: unknown, mustSucceedOnce: boolean): Findings {
  if (!isObject(probe)) return;
  const handlers = HANDLERS.filter((handler) => isObject(probe[handler]));
  if (handlers.length === 0) yield required(field, 'must specify a handler type');
  for (const [index, handler] of handlers.entries()) {
    if (index > 0) yield forbidden(`${field}.${handler}`, 'may not specify more than 1 handler type');
    else yield* validateHandler(`${field}.${handler}`, handler, objectAt(probe, handler));
  }
  for (const name of PROBE_NUMBERS) yield* notNegative(`${field}.${name}`, numberAt(probe, name));
  const threshold = numberAt(probe, 'successThreshold');
  if (mustSucceedOnce && threshold !== undefined && threshold !== 1) {
    yield invalid(`${field}.successThreshold`, threshold, 'must be 1');
  }
}

function* validateHandler(field: string, handler: string, value: JsonObject): Findings {
  if (handler === 'exec') {
    if (listAt(value, 'command').length === 0) yield required(`${field}.command`);
    return;
  }
  yield* validatePortReference(`${field}.port`, valueAt(value, 'port'));
  if (handler === 'httpGet') {
    if (textAt(value, 'path') === '') yield required(`${field}.path`);
    yield* oneOf(`${field}.scheme`, textAt(value, 'scheme'), ['HTTP', 'HTTPS']);
  }
}

/** A port by number or by name. */
export function* validatePortReference(field: string, port: unknown): Findings {
  if (typeof port === 'number') yield* portNumber(field, port);
  if (typeof port === 'string') for (const message of portName(port)) yield invalid(field, port, message);
}
