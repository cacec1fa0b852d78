import type { JsonObject } from '../schema/schema.ts';
import { type Behaviour, firstStatus, specDefaults } from './behaviour.ts';
import { type Findings, invalid, oneOf, required } from './field-errors.ts';
import { edit, editEach, fill, isAbsent, numberAt, objectAt, objectsAt, textAt, textsAt, valueAt } from './fields.ts';
import { label, subdomain } from './names.ts';

const PATH_TYPES = ['Exact', 'ImplementationSpecific', 'Prefix'];

export const networkPolicy: Behaviour = {
  generation: true,
  defaults: specDefaults((spec) => {
    const types = isAbsent(spec['egress']) ? ['Ingress'] : ['Ingress', 'Egress'];
    return ['ingress', 'egress'].reduce(
      (changed, direction) =>
        editEach(changed, direction, (rule) => editEach(rule, 'ports', (port) => fill(port, { protocol: 'TCP' }))),
      fill(spec, { podSelector: {}, policyTypes: types }),
    );
  }),
  *validate(object) {
    for (const [index, type] of textsAt(object, 'spec', 'policyTypes').entries()) {
      yield* oneOf(`spec.policyTypes[${index}]`, type, ['Ingress', 'Egress']);
    }
  },
};

export const ingress: Behaviour = {
  generation: true,
  defaults: specDefaults((spec) => spec),
  prepare: firstStatus({ loadBalancer: {} }),
  *validate(object) {
    const spec = objectAt(object, 'spec');
    const rules = objectsAt(spec, 'rules');
    if (rules.length === 0 && isAbsent(spec['defaultBackend'])) {
      yield invalid('spec', null, 'either `defaultBackend` or `rules` must be specified');
    }
    if (!isAbsent(spec['defaultBackend'])) {
      yield* validateBackend('spec.defaultBackend', objectAt(spec, 'defaultBackend'));
    }
    for (const [index, rule] of rules.entries()) yield* validateRule(`spec.rules[${index}]`, rule);
  },
};

function* validateRule(field: string, rule: JsonObject): Findings {
  const host = textAt(rule, 'host');
  const name = host.startsWith('*.') ? host.slice(2) : host;
  if (host !== '') for (const message of subdomain(name)) yield invalid(`${field}.host`, host, message);
  const http = valueAt(rule, 'http');
  if (isAbsent(http)) return;
  if (objectsAt(http, 'paths').length === 0) yield required(`${field}.http.paths`);
  for (const [index, path] of objectsAt(http, 'paths').entries()) {
    const at = `${field}.http.paths[${index}]`;
    const [type, text] = [textAt(path, 'pathType'), textAt(path, 'path')];
    if (type === '') yield required(`${at}.pathType`, 'pathType must be specified');
    else yield* oneOf(`${at}.pathType`, type, PATH_TYPES);
    const mustBeAbsolute = type === 'Exact' || type === 'Prefix' || (type === 'ImplementationSpecific' && text !== '');
    if (mustBeAbsolute && !text.startsWith('/')) yield invalid(`${at}.path`, text, 'must be an absolute path');
    yield* validateBackend(`${at}.backend`, objectAt(path, 'backend'));
  }
}

function* validateBackend(field: string, backend: JsonObject): Findings {
  if (!isAbsent(backend['resource'])) return;
  if (isAbsent(backend['service'])) {
    yield invalid(field, '', 'resource or service backend is required');
    return;
  }
  const name = textAt(backend, 'service', 'name');
  if (name === '') yield required(`${field}.service.name`);
  else for (const message of label(name)) yield invalid(`${field}.service.name`, name, message);
  const port = objectAt(backend, 'service', 'port');
  if (textAt(port, 'name') === '' && (numberAt(port, 'number') ?? 0) === 0) {
    yield required(field, 'port name or number is required');
  }
}

export const ingressClass: Behaviour = {
  generation: true,
  defaults: specDefaults((spec) => edit(spec, 'parameters', (parameters) => fill(parameters, { scope: 'Cluster' }))),
};

export const endpoints: Behaviour = {
  defaults: (object) => ({
    ...object,
    ...(!isAbsent(valueAt(object, 'subsets')) && {
      subsets: objectsAt(object, 'subsets').map((subset) =>
        editEach(subset, 'ports', (port) => fill(port, { protocol: 'TCP' })),
      ),
    }),
  }),
};

export const endpointSlice: Behaviour = {
  generation: true,
  defaults: (object) => ({
    ...object,
    endpoints: isAbsent(valueAt(object, 'endpoints'))
      ? null
      : objectsAt(object, 'endpoints').map((endpoint) => fill(endpoint, { conditions: {} })),
    ports: isAbsent(valueAt(object, 'ports'))
      ? null
      : objectsAt(object, 'ports').map((port) => fill(port, { name: '', protocol: 'TCP' })),
  }),
  *validate(object, old) {
    const type = textAt(object, 'addressType');
    if (type === '') yield required('addressType');
    else yield* oneOf('addressType', type, ['IPv4', 'IPv6', 'FQDN']);
    if (old && type !== textAt(old, 'addressType')) yield invalid('addressType', type, 'field is immutable');
  },
};
