import type { JsonObject } from '../schema/schema.ts';
import { validateReviewVersions, validateWebhookClient } from '../schema/webhook-client.ts';
import type { WireObject } from '../served-kind.ts';
import { duplicate, type Findings, invalid, notSupported, oneOf, required } from './field-errors.ts';
import { isAbsent, numberAt, objectAt, objectsAt, textAt, textsAt } from './fields.ts';
import { validateSelector } from './label-selector.ts';
import { qualifiedName, subdomain } from './names.ts';

const SIDE_EFFECTS = ['None', 'NoneOnDryRun'];

export function* validateWebhooks(object: WireObject): Findings {
  const names = new Set<string>();
  for (const [index, webhook] of objectsAt(object, 'webhooks').entries()) {
    const field = `webhooks[${index}]`;
    const name = textAt(webhook, 'name');
    yield* validateWebhook(field, webhook);
    if (names.has(name)) yield duplicate(`${field}.name`, name);
    names.add(name);
  }
}

function* validateWebhook(field: string, webhook: JsonObject): Findings {
  yield* validateName(`${field}.name`, textAt(webhook, 'name'));
  for (const [index, rule] of objectsAt(webhook, 'rules').entries()) {
    yield* validateRule(`${field}.rules[${index}]`, rule);
  }
  yield* oneOf(`${field}.failurePolicy`, textAt(webhook, 'failurePolicy'), ['Fail', 'Ignore']);
  yield* oneOf(`${field}.matchPolicy`, textAt(webhook, 'matchPolicy'), ['Equivalent', 'Exact']);
  const effects = webhook['sideEffects'];
  if (isAbsent(effects)) yield required(`${field}.sideEffects`, `must specify one of ${SIDE_EFFECTS.join(', ')}`);
  else yield* oneOf(`${field}.sideEffects`, textAt(webhook, 'sideEffects'), SIDE_EFFECTS);
  const seconds = numberAt(webhook, 'timeoutSeconds') ?? 10;
  if (seconds < 1 || seconds > 30) {
    yield invalid(`${field}.timeoutSeconds`, seconds, 'the timeout value must be between 1 and 30 seconds');
  }
  for (const name of ['namespaceSelector', 'objectSelector']) {
    yield* validateSelector(`${field}.${name}`, objectAt(webhook, name));
  }
  const again = textAt(webhook, 'reinvocationPolicy');
  if (again !== '') yield* oneOf(`${field}.reinvocationPolicy`, again, ['IfNeeded', 'Never']);
  yield* validateConditions(`${field}.matchConditions`, objectsAt(webhook, 'matchConditions'));
  yield* validateWebhookClient(`${field}.clientConfig`, objectAt(webhook, 'clientConfig'));
  const versions = textsAt(webhook, 'admissionReviewVersions');
  const at = `${field}.admissionReviewVersions`;
  yield* versions.length === 0
    ? [required(at, 'must specify one of v1, v1beta1')]
    : validateReviewVersions(at, versions);
}

function* validateName(field: string, name: string): Findings {
  if (name === '') yield required(field);
  else for (const message of subdomain(name)) yield invalid(field, name, message);
  if (name !== '' && name.split('.').length < 3) {
    yield invalid(field, name, 'should be a domain with at least three segments separated by dots');
  }
}

const OPERATIONS = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE'];

function* validateRule(field: string, rule: JsonObject): Findings {
  for (const [name, what] of [
    ['operations', 'operations'],
    ['apiGroups', 'API groups'],
    ['apiVersions', 'API versions'],
  ] as const) {
    const list = textsAt(rule, name);
    if (list.length === 0) yield required(`${field}.${name}`);
    if (list.length > 1 && list.includes('*')) {
      yield invalid(`${field}.${name}`, list, `if '*' is present, must not specify other ${what}`);
    }
  }
  for (const [index, operation] of textsAt(rule, 'operations').entries()) {
    yield* oneOf(`${field}.operations[${index}]`, operation, OPERATIONS);
  }
  for (const [index, version] of textsAt(rule, 'apiVersions').entries()) {
    if (version === '') yield required(`${field}.apiVersions[${index}]`);
  }
  yield* validateResources(`${field}.resources`, textsAt(rule, 'resources'));
  const scope = textAt(rule, 'scope');
  const scopes = ['*', 'Cluster', 'Namespaced'];
  if (!scopes.includes(scope)) yield notSupported(`${field}.scope`, scope, scopes);
}

/** What a star covers already is not said again. */
function* validateResources(field: string, resources: readonly string[]): Findings {
  if (resources.length === 0) yield required(field);
  const covered = new Set<string>();
  for (const [index, pattern] of resources.entries()) {
    const at = `${field}[${index}]`;
    if (pattern === '') yield required(at);
    const [resource = '', subresource] = pattern.split('/');
    if (subresource === undefined) continue;
    for (const star of [`${resource}/*`, `*/${subresource}`]) {
      if (covered.has(star)) yield invalid(at, pattern, `if '${star}' is present, must not specify ${pattern}`);
    }
    if (subresource === '*' || resource === '*') covered.add(pattern);
  }
  if (resources.length > 1 && resources.includes('*/*')) {
    yield invalid(field, resources, "if '*/*' is present, must not specify other resources");
  }
  if (resources.includes('*') && resources.some((one) => one !== '*' && one !== '' && !one.includes('/'))) {
    const detail = "if '*' is present, must not specify other resources without subresources";
    yield invalid(field, resources, detail);
  }
}

function* validateConditions(field: string, conditions: readonly JsonObject[]): Findings {
  const names = new Set<string>();
  for (const [index, condition] of conditions.entries()) {
    const at = `${field}[${index}]`;
    const name = textAt(condition, 'name');
    if (textAt(condition, 'expression') === '') yield required(`${at}.expression`);
    if (name === '') yield required(`${at}.name`);
    else for (const message of qualifiedName(name)) yield invalid(`${at}.name`, name, message);
    if (name !== '' && names.has(name)) yield duplicate(`${at}.name`, name);
    names.add(name);
  }
}
