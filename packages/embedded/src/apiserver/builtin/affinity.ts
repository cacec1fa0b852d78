import { isObject, type JsonObject } from '../schema/schema.ts';
import { duplicate, type Findings, forbidden, invalid, oneOf, required } from './field-errors.ts';
import { isAbsent, numberAt, objectAt, objectsAt, textAt, textsAt } from './fields.ts';
import { validateSelector } from './label-selector.ts';
import { label, labelValue, qualifiedName } from './names.ts';

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';

export function* validateAffinity(field: string, affinity: JsonObject): Findings {
  const nodes = affinity['nodeAffinity'];
  if (isObject(nodes)) yield* validateNodeAffinity(`${field}.nodeAffinity`, nodes);
  for (const name of ['podAffinity', 'podAntiAffinity']) {
    yield* validatePodAffinity(`${field}.${name}`, objectAt(affinity, name));
  }
}

function* validateNodeAffinity(field: string, affinity: JsonObject): Findings {
  const wanted = affinity[REQUIRED];
  if (isObject(wanted)) {
    const at = `${field}.${REQUIRED}.nodeSelectorTerms`;
    const terms = objectsAt(wanted, 'nodeSelectorTerms');
    if (terms.length === 0) yield required(at, 'must have at least one node selector term');
    for (const [index, term] of terms.entries()) yield* validateNodeTerm(`${at}[${index}]`, term);
  }
  for (const [index, preferred] of objectsAt(affinity, PREFERRED).entries()) {
    const at = `${field}.${PREFERRED}[${index}]`;
    yield* validateWeight(at, preferred);
    yield* validateNodeTerm(`${at}.preference`, objectAt(preferred, 'preference'));
  }
}

function* validateWeight(field: string, preferred: JsonObject): Findings {
  const weight = numberAt(preferred, 'weight') ?? 0;
  if (weight < 1 || weight > 100) yield invalid(`${field}.weight`, weight, 'must be in the range 1-100');
}

function* validateNodeTerm(field: string, term: JsonObject): Findings {
  for (const [index, expression] of objectsAt(term, 'matchExpressions').entries()) {
    yield* validateNodeExpression(`${field}.matchExpressions[${index}]`, expression);
  }
  for (const [index, expression] of objectsAt(term, 'matchFields').entries()) {
    const at = `${field}.matchFields[${index}]`;
    const [key, operator] = [textAt(expression, 'key'), textAt(expression, 'operator')];
    if (operator !== 'In' && operator !== 'NotIn') {
      yield invalid(`${at}.operator`, operator, 'not a valid selector operator');
    } else if (textsAt(expression, 'values').length !== 1) {
      const detail = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector";
      yield required(`${at}.values`, detail);
    }
    if (key !== 'metadata.name') yield invalid(`${at}.key`, key, 'not a valid field selector key');
  }
}

function* validateNodeExpression(field: string, expression: JsonObject): Findings {
  const [key, operator] = [textAt(expression, 'key'), textAt(expression, 'operator')];
  const values = textsAt(expression, 'values');
  switch (operator) {
    case 'In':
    case 'NotIn':
      if (values.length === 0)
        yield required(`${field}.values`, "must be specified when `operator` is 'In' or 'NotIn'");
      break;
    case 'Exists':
    case 'DoesNotExist':
      if (values.length > 0) {
        yield forbidden(`${field}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
      }
      break;
    case 'Gt':
    case 'Lt':
      if (values.length !== 1) {
        yield required(`${field}.values`, "must be specified single value when `operator` is 'Lt' or 'Gt'");
      }
      break;
    default:
      yield invalid(`${field}.operator`, operator, 'not a valid selector operator');
  }
  for (const message of qualifiedName(key)) yield invalid(`${field}.key`, key, message);
  for (const [index, value] of values.entries()) {
    for (const message of labelValue(value)) yield invalid(`${field}.values[${index}]`, value, message);
  }
}

function* validatePodAffinity(field: string, affinity: JsonObject): Findings {
  for (const [index, term] of objectsAt(affinity, REQUIRED).entries()) {
    yield* validatePodTerm(`${field}.${REQUIRED}[${index}]`, term);
  }
  for (const [index, preferred] of objectsAt(affinity, PREFERRED).entries()) {
    const at = `${field}.${PREFERRED}[${index}]`;
    yield* validateWeight(at, preferred);
    yield* validatePodTerm(`${at}.podAffinityTerm`, objectAt(preferred, 'podAffinityTerm'));
  }
}

function* validatePodTerm(field: string, term: JsonObject): Findings {
  for (const name of ['labelSelector', 'namespaceSelector']) {
    yield* validateSelector(`${field}.${name}`, objectAt(term, name));
  }
  for (const namespace of textsAt(term, 'namespaces')) {
    // The real server names the field in the singular, without an index.
    for (const message of label(namespace)) yield invalid(`${field}.namespace`, namespace, message);
  }
  const key = textAt(term, 'topologyKey');
  if (key === '') yield required(`${field}.topologyKey`, 'can not be empty');
  for (const message of qualifiedName(key)) yield invalid(`${field}.topologyKey`, key, message);
}

export function* validateSpread(field: string, constraints: readonly JsonObject[]): Findings {
  const places = constraints.map(
    (constraint) => `{${textAt(constraint, 'topologyKey')}, ${textAt(constraint, 'whenUnsatisfiable')}}`,
  );
  for (const [index, constraint] of constraints.entries()) {
    const at = `${field}[${index}]`;
    const [skew, policy] = [numberAt(constraint, 'maxSkew') ?? 0, textAt(constraint, 'whenUnsatisfiable')];
    if (skew <= 0) yield invalid(`${at}.maxSkew`, skew, 'must be greater than zero');
    if (textAt(constraint, 'topologyKey') === '') yield required(`${at}.topologyKey`, 'can not be empty');
    yield* oneOf(`${at}.whenUnsatisfiable`, policy, ['DoNotSchedule', 'ScheduleAnyway']);
    const place = places[index] ?? '';
    if (places.includes(place, index + 1)) yield duplicate(`${at}.{topologyKey, whenUnsatisfiable}`, place);
    const domains = numberAt(constraint, 'minDomains');
    if (domains !== undefined && domains <= 0) yield invalid(`${at}.minDomains`, domains, 'must be greater than zero');
    if (!isAbsent(constraint['minDomains']) && policy !== 'DoNotSchedule') {
      const detail = `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${policy}`;
      yield invalid(`${at}.minDomains`, domains, detail);
    }
    yield* validateSelector(`${at}.labelSelector`, objectAt(constraint, 'labelSelector'));
  }
}
