import { isObject, type JsonObject } from '../schema/schema.ts';
import { validateMetrics, validatePace } from './autoscaler-metrics.ts';
import { type Behaviour, firstStatus, specDefaults } from './behaviour.ts';
import { forbidden, invalid, required } from './field-errors.ts';
import { edit, fill, listAt, numberAt, objectAt, objectsAt, textAt, valueAt } from './fields.ts';

const CPU = { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } } };

const SCALE_UP = {
  stabilizationWindowSeconds: 0,
  selectPolicy: 'Max',
  policies: [
    { type: 'Pods', value: 4, periodSeconds: 15 },
    { type: 'Percent', value: 100, periodSeconds: 15 },
  ],
};
const SCALE_DOWN = { selectPolicy: 'Max', policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }] };

export const horizontalPodAutoscaler: Behaviour = {
  defaults: specDefaults((spec) => {
    const metrics: JsonObject = listAt(spec, 'metrics').length === 0 ? { ...spec, metrics: [CPU] } : spec;
    return edit(fill(metrics, { minReplicas: 1 }), 'behavior', (behavior) => ({
      scaleUp: fill(objectAt(behavior, 'scaleUp'), SCALE_UP),
      scaleDown: fill(objectAt(behavior, 'scaleDown'), SCALE_DOWN),
    }));
  }),
  prepare: firstStatus({ currentMetrics: null, desiredReplicas: 0 }),
  *validate(object) {
    const spec = objectAt(object, 'spec');
    const [min, max] = [numberAt(spec, 'minReplicas') ?? 1, numberAt(spec, 'maxReplicas') ?? 0];
    if (min < 1) yield invalid('spec.minReplicas', min, 'must be greater than or equal to 1');
    if (max < 1) yield required('spec.maxReplicas', 'must be set and greater than 0');
    if (max < min) yield invalid('spec.maxReplicas', max, 'must be greater than or equal to `minReplicas`');
    for (const name of ['kind', 'name']) {
      if (textAt(spec, 'scaleTargetRef', name) === '') yield required(`spec.scaleTargetRef.${name}`);
    }
    const apiVersion = textAt(spec, 'scaleTargetRef', 'apiVersion');
    const isCore = apiVersion === 'v1' && textAt(spec, 'scaleTargetRef', 'kind') === 'ReplicationController';
    if (!isCore && !apiVersion.includes('/')) {
      yield invalid('spec.scaleTargetRef.apiVersion', apiVersion, 'apiVersion must specify API group');
    }
    yield* validateMetrics('spec.metrics', objectsAt(spec, 'metrics'));
    for (const direction of ['scaleUp', 'scaleDown']) {
      const rules = valueAt(spec, 'behavior', direction);
      if (isObject(rules)) yield* validatePace(`spec.behavior.${direction}`, rules);
    }
    const outside = objectsAt(spec, 'metrics').some(({ type }) => type === 'Object' || type === 'External');
    if (min === 0 && !outside) {
      const detail = 'must specify at least one Object or External metric to support scaling to zero replicas';
      yield forbidden('spec.metrics', detail);
    }
  },
};
