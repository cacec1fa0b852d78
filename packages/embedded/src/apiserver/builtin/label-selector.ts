import { isObject, type JsonObject } from '../schema/schema.ts';
import { structuredLabelSelector } from '../selectors/label-selector.ts';
import type { FieldError } from '../status.ts';
import { type Findings, forbidden, invalid, required } from './field-errors.ts';
import { listAt, objectAt, objectsAt, textAt, textsOf, valueAt } from './fields.ts';
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
export const selects = (selector: JsonObject, labels: JsonObject) => structuredLabelSelector(selector)(textsOf(labels));

/** The selector that a workload's pods have to match, checked against the labels that its template gives them. */
export function* selectorOfTemplate(owner: string, spec: JsonObject): Findings {
  if (!isObject(spec['selector'])) {
    // DaemonSets alone are not told what is missing.
    if (owner !== 'daemonset') yield required('spec.selector');
    yield mismatch(spec);
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
  if (!selects(selector, objectAt(spec, 'template', 'metadata', 'labels'))) yield mismatch(spec);
}

export function mismatch(spec: JsonObject): FieldError {
  const given = valueAt(spec, 'template', 'metadata', 'labels');
  return invalid('spec.template.metadata.labels', given, '`selector` does not match template `labels`');
}
