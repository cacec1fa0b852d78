import type { JsonObject } from '../schema/schema.ts';
import type { WireObject } from '../served-kind.ts';
import { type Behaviour, specDefaults } from './behaviour.ts';
import { edit, editEach, fill, objectsAt } from './fields.ts';
import { validateWebhooks } from './webhook-validation.ts';

const rules = (object: JsonObject, list: string) => editEach(object, list, (rule) => fill(rule, { scope: '*' }));

/** Port 443 unless the reference to a service says otherwise. */
export const clientConfig = (config: JsonObject) => edit(config, 'service', (service) => fill(service, { port: 443 }));

const SELECTORS = { matchPolicy: 'Equivalent', namespaceSelector: {}, objectSelector: {} };

function webhooks(object: WireObject, more: JsonObject): WireObject {
  const filled = objectsAt(object, 'webhooks').map((webhook) =>
    edit(
      rules(fill(webhook, { failurePolicy: 'Fail', timeoutSeconds: 10, ...SELECTORS, ...more }), 'rules'),
      'clientConfig',
      clientConfig,
    ),
  );
  return { ...object, ...(filled.length > 0 && { webhooks: filled }) };
}

export const validatingWebhookConfiguration: Behaviour = {
  generation: true,
  defaults: (object) => webhooks(object, {}),
  validate: validateWebhooks,
};

export const mutatingWebhookConfiguration: Behaviour = {
  generation: true,
  defaults: (object) => webhooks(object, { reinvocationPolicy: 'Never' }),
  validate: validateWebhooks,
};

export const validatingAdmissionPolicy: Behaviour = {
  generation: true,
  defaults: specDefaults((spec) =>
    edit(fill(spec, { failurePolicy: 'Fail' }), 'matchConstraints', (constraints) =>
      rules(rules(fill(constraints, SELECTORS), 'resourceRules'), 'excludeResourceRules'),
    ),
  ),
  prepare: (object) => ({ ...object, status: {} }),
};

export const validatingAdmissionPolicyBinding: Behaviour = {
  generation: true,
  defaults: specDefaults((spec) =>
    edit(spec, 'matchResources', (resources) =>
      rules(rules(fill(resources, SELECTORS), 'resourceRules'), 'excludeResourceRules'),
    ),
  ),
};
