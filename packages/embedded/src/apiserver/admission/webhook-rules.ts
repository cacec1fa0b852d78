import type { BuiltinKind } from '../builtin/index.ts';
import { isObject } from '../schema/index.ts';
import type { WireObject } from '../served-kind.ts';
import type { FieldError } from '../status.ts';

/** The kinds of webhook configurations, with the rules that their schemas cannot say. */
export function withWebhookRules(kind: BuiltinKind): BuiltinKind {
  if (!kind.kind.endsWith('WebhookConfiguration')) return kind;
  return {
    ...kind,
    validate: (object, old) => [...(kind.validate?.(object, old) ?? []), ...webhookErrors(object)],
  };
}

const SIDE_EFFECTS = ['None', 'NoneOnDryRun'];

function webhookErrors(object: WireObject): readonly FieldError[] {
  const webhooks = Array.isArray(object['webhooks']) ? object['webhooks'] : [];
  return webhooks.flatMap((webhook, index): readonly FieldError[] => {
    const { sideEffects, admissionReviewVersions } = isObject(webhook) ? webhook : {};
    const at = (name: string) => `webhooks[${index}].${name}`;
    const errors: FieldError[] = [];
    if (!Array.isArray(admissionReviewVersions) || admissionReviewVersions.length === 0) {
      const detail = 'must specify one of v1, v1beta1';
      errors.push({ type: 'Required', field: at('admissionReviewVersions'), detail });
    }
    if (sideEffects === undefined) {
      const detail = `must specify one of ${SIDE_EFFECTS.join(', ')}`;
      errors.push({ type: 'Required', field: at('sideEffects'), detail });
    } else if (typeof sideEffects !== 'string' || !SIDE_EFFECTS.includes(sideEffects)) {
      const detail = `supported values: ${SIDE_EFFECTS.map((one) => JSON.stringify(one)).join(', ')}`;
      errors.push({ type: 'NotSupported', field: at('sideEffects'), value: sideEffects, detail });
    }
    return errors;
  });
}
