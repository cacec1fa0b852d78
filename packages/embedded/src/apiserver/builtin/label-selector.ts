import { isObject, type JsonObject } from '../schema/schema.ts';
import { type Findings, forbidden, invalid, required } from './field-errors.ts';
import { listAt, objectAt, objectsAt, shownAt, textAt, textsAt } from './fields.ts';
import { labels } from './metadata.ts';
import { qualifiedName } from './names.ts';

export function* validateSelector(field: string, selector: JsonObject): Findings {
  yield* labels(`${field}.matchLabels`, objectAt(selector, 'matchLabels'));
  for (const [index, expression] of objectsAt(selector, 'matchExpressions').entries()) {
    const at = `${field}.matchExpressions[${index}]`;
    const operator = textAt(expression, 'operator');
    const values = listAt(expression, 'values');
    if (operator === 'In' || operator === 'NotIn') {
      if (values.length === 0) {
        yield required(`${at}.values`, "must be specified when `operator` is 'In' or 'NotIn'");
      }
    } else if (operator === 'Exists' || operator === 'DoesNotExist') {
      if (values.length > 0) {
        yield forbidden(`${at}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
      }
    } else {
      yield invalid(`${at}.operator`, operator, 'not a valid selector operator');
    }
    const key = textAt(expression, 'key');
    for (const message of qualifiedName(key)) yield invalid(`${at}.key`, key, message);
  }
}

export function isEmptySelector(selector: JsonObject): boolean {
  return Object.keys(objectAt(selector, 'matchLabels')).length + listAt(selector, 'matchExpressions').length === 0;
}

/** Whether a label selector selects an object with these labels. The empty selector selects everything. */
export function selects(selector: JsonObject, labels: JsonObject): boolean {
  const byLabels = Object.entries(objectAt(selector, 'matchLabels')).every(([key, value]) => labels[key] === value);
  return byLabels && objectsAt(selector, 'matchExpressions').every((expression) => satisfies(expression, labels));
}

function satisfies(expression: JsonObject, labels: JsonObject): boolean {
  const value = labels[textAt(expression, 'key')];
  const values = listAt(expression, 'values');
  switch (textAt(expression, 'operator')) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    default:
      return false;
  }
}

/** The selector that a workload's pods have to match, checked against the labels that its template gives them. */
export function* selectorOfTemplate(owner: string, spec: JsonObject): Findings {
  if (!isObject(spec['selector'])) {
    yield required('spec.selector');
    return;
  }
  const selector = objectAt(spec, 'selector');
  const problems = [...validateSelector('spec.selector', selector)];
  yield* problems;
  if (isEmptySelector(selector)) {
    yield invalid('spec.selector', selector, `empty selector is invalid for ${owner}`);
    return;
  }
  if (problems.length > 0) {
    yield invalid('spec.selector', selector, 'invalid label selector');
    return;
  }
  const given = objectAt(spec, 'template', 'metadata', 'labels');
  if (!selects(selector, given)) {
    const value = Object.keys(given).length === 0 ? null : given;
    yield invalid('spec.template.metadata.labels', value, '`selector` does not match template `labels`');
  }
}

/** `app=web,tier in (a,b),!old`: a selector as `scale` and `kubectl` write it. A plain map of labels is one as well. */
export function selectorText(selector: JsonObject): string {
  const isStructured = isObject(selector['matchLabels']) || Array.isArray(selector['matchExpressions']);
  const labels = isStructured ? objectAt(selector, 'matchLabels') : selector;
  const equal = Object.keys(labels);
  const expressions = objectsAt(selector, 'matchExpressions').map((expression) => {
    const key = textAt(expression, 'key');
    const values = textsAt(expression, 'values').toSorted().join(',');
    switch (textAt(expression, 'operator')) {
      case 'In':
        return `${key} in (${values})`;
      case 'NotIn':
        return `${key} notin (${values})`;
      case 'DoesNotExist':
        return `!${key}`;
      default:
        return key;
    }
  });
  return [...equal.map((key) => `${key}=${shownAt(labels, key)}`).toSorted(), ...expressions].join(',');
}
