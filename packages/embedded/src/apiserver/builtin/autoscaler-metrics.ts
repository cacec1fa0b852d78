import { pathSegmentErrors } from '../schema/names.ts';
import { isObject, type JsonObject } from '../schema/schema.ts';
import { type Findings, forbidden, invalid, notSupported, oneOf, required } from './field-errors.ts';
import { isAbsent, numberAt, objectAt, objectsAt, textAt } from './fields.ts';
import { formatQuantity, parseQuantity } from './quantity.ts';

type Source = (field: string, source: JsonObject) => Findings;

/** The fields that a metric of each type is in, in the order in which the real server looks for them. */
const SOURCES: Readonly<Record<string, readonly [field: string, validate: Source]>> = {
  Object: ['object', validateObjectMetric],
  External: ['external', validateExternalMetric],
  Pods: ['pods', validatePodsMetric],
  Resource: ['resource', validateResourceMetric],
  ContainerResource: ['containerResource', validateContainerMetric],
};

export function* validateMetrics(field: string, metrics: readonly JsonObject[]): Findings {
  for (const [index, metric] of metrics.entries()) yield* validateMetric(`${field}[${index}]`, metric);
}

function* validateMetric(field: string, metric: JsonObject): Findings {
  const type = textAt(metric, 'type');
  if (type === '') yield required(`${field}.type`, 'must specify a metric source type');
  const present = Object.values(SOURCES).filter(([name]) => isObject(metric[name]));
  const expected = SOURCES[type]?.[0];
  if (expected === undefined) yield notSupported(`${field}.type`, type, Object.keys(SOURCES).toSorted());
  else if (!isObject(metric[expected])) {
    yield required(`${field}.${expected}`, 'must populate information for the given metric source');
  }
  const [first] = present;
  if (first !== undefined) yield* first[1](`${field}.${first[0]}`, objectAt(metric, first[0]));
  for (const [name] of present.length > 1 ? present : []) {
    if (name !== expected) yield forbidden(`${field}.${name}`, 'must populate the given metric source only');
  }
}

function* validateResourceMetric(field: string, source: JsonObject): Findings {
  if (textAt(source, 'name') === '') yield required(`${field}.name`, 'must specify a resource name');
  yield* validateTarget(`${field}.target`, objectAt(source, 'target'));
  const [utilization, value] = [`${field}.target.averageUtilization`, `${field}.target.averageValue`];
  const { averageUtilization, averageValue } = objectAt(source, 'target');
  if (isAbsent(averageUtilization) && isAbsent(averageValue)) {
    yield required(utilization, 'must set either a target raw value or a target utilization');
  }
  if (!isAbsent(averageUtilization) && !isAbsent(averageValue)) {
    yield forbidden(value, 'may not set both a target raw value and a target utilization');
  }
}

function* validateContainerMetric(field: string, source: JsonObject): Findings {
  yield* validateResourceMetric(field, source);
  if (textAt(source, 'container') === '') yield required(`${field}.container`, 'must specify a container');
}

function* validatePodsMetric(field: string, source: JsonObject): Findings {
  yield* validateMetricName(`${field}.metric.name`, textAt(source, 'metric', 'name'));
  yield* validateTarget(`${field}.target`, objectAt(source, 'target'));
  if (isAbsent(objectAt(source, 'target')['averageValue'])) {
    yield required(`${field}.target.averageValue`, 'must specify a positive target averageValue');
  }
}

function* validateObjectMetric(field: string, source: JsonObject): Findings {
  for (const name of ['kind', 'name']) {
    if (textAt(source, 'describedObject', name) === '') yield required(`${field}.describedObject.${name}`);
  }
  yield* validateMetricName(`${field}.metric.name`, textAt(source, 'metric', 'name'));
  const target = objectAt(source, 'target');
  yield* validateTarget(`${field}.target`, target);
  if (isAbsent(target['value']) && isAbsent(target['averageValue'])) {
    yield required(`${field}.target.averageValue`, 'must set either a target value or averageValue');
  }
}

function* validateExternalMetric(field: string, source: JsonObject): Findings {
  yield* validateMetricName(`${field}.metric.name`, textAt(source, 'metric', 'name'));
  const target = objectAt(source, 'target');
  yield* validateTarget(`${field}.target`, target);
  const { value, averageValue } = target;
  if (isAbsent(value) && isAbsent(averageValue)) {
    const detail = 'must set either a target value for metric or a per-pod target';
    yield required(`${field}.target.averageValue`, detail);
  }
  if (!isAbsent(value) && !isAbsent(averageValue)) {
    yield forbidden(`${field}.target.value`, 'may not set both a target value for metric and a per-pod target');
  }
}

/** It becomes a segment of a path. */
function* validateMetricName(field: string, name: string): Findings {
  if (name === '') yield required(field, 'must specify a metric name');
  for (const message of pathSegmentErrors(name)) yield invalid(field, name, message);
}

function* validateTarget(field: string, target: JsonObject): Findings {
  const type = textAt(target, 'type');
  if (type === '') yield required(`${field}.type`, 'must specify a metric target type');
  if (!['Utilization', 'Value', 'AverageValue'].includes(type)) {
    yield invalid(`${field}.type`, type, 'must be either Utilization, Value, or AverageValue');
  }
  for (const name of ['value', 'averageValue']) {
    const amount = parseQuantity(target[name]);
    if (amount && amount.nanos <= 0n) yield invalid(`${field}.${name}`, formatQuantity(amount), 'must be positive');
  }
  const utilization = numberAt(target, 'averageUtilization');
  if (utilization !== undefined && utilization < 1) {
    yield invalid(`${field}.averageUtilization`, utilization, 'must be greater than 0');
  }
}

const LONGEST_WINDOW = 3600;
const LONGEST_PERIOD = 1800;

/** How fast it may go, up or down. */
export function* validatePace(field: string, rules: JsonObject): Findings {
  const window = numberAt(rules, 'stabilizationWindowSeconds') ?? 0;
  const at = `${field}.stabilizationWindowSeconds`;
  if (window < 0) yield invalid(at, window, 'must be greater than or equal to zero');
  if (window > LONGEST_WINDOW) yield invalid(at, window, `must be less than or equal to ${LONGEST_WINDOW}`);
  yield* oneOf(`${field}.selectPolicy`, textAt(rules, 'selectPolicy'), ['Disabled', 'Max', 'Min']);
  const policies = objectsAt(rules, 'policies');
  if (policies.length === 0) yield required(`${field}.policies`, 'must specify at least one Policy');
  for (const [index, policy] of policies.entries()) {
    const each = `${field}.policies[${index}]`;
    yield* oneOf(`${each}.type`, textAt(policy, 'type'), ['Percent', 'Pods']);
    for (const name of ['value', 'periodSeconds']) {
      const number = numberAt(policy, name) ?? 0;
      if (number <= 0) yield invalid(`${each}.${name}`, number, 'must be greater than zero');
    }
    const period = numberAt(policy, 'periodSeconds') ?? 0;
    if (period > LONGEST_PERIOD) {
      yield invalid(`${each}.periodSeconds`, period, `must be less than or equal to ${LONGEST_PERIOD}`);
    }
  }
}
