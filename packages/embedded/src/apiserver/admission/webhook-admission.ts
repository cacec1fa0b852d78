import { printJson } from '../exact-json.ts';
import { asJson, asWire } from '../object-text.ts';
import type { WireObject } from '../served-kind.ts';
import { converted, type ServedResource } from '../served-kinds.ts';
import { badRequest, forbidden, internalError, StatusError } from '../status.ts';
import type { ObjectStore } from '../watch/index.ts';
import type { WebhookCaller } from '../webhooks/index.ts';
import type { Admission, Review } from './admission.ts';
import { concernedVersion, conditionsHold } from './matching.ts';
import { patchedBy, type Verdict, verdictIn } from './verdict.ts';
import { type Webhook, webhooksIn } from './webhook.ts';

const USER = { username: 'polder:embedded', groups: ['system:masters', 'system:authenticated'] };

/** Asks the webhooks that MutatingWebhookConfigurations and ValidatingWebhookConfigurations name. */
export function webhookAdmission(store: ObjectStore, caller: WebhookCaller): Admission {
  const ask = async (webhook: Webhook, review: Review, object: WireObject | undefined, old: WireObject | undefined) => {
    const served = concernedVersion(webhook, review, object, old, store);
    if (served === undefined) return undefined;
    const asked = {
      webhook,
      review,
      served,
      object: object && (await converted(served, object)),
      old: old && (await converted(served, old)),
    };
    if (!conditionsAllow(asked)) return undefined;
    const verdict = await answerOf(asked, caller);
    return verdict && { ...verdict, asked };
  };
  return {
    async mutate(review, object, old) {
      const webhooks = isExempt(review) ? [] : webhooksIn(store, 'mutating');
      let current = object;
      const round = async (turn: readonly Webhook[]) => {
        const changers = new Set<Webhook>();
        for (const webhook of turn) {
          const verdict = await ask(webhook, review, current, old);
          review.call.warnings.push(...(verdict?.warnings ?? []));
          if (verdict?.patch === undefined) continue;
          const seen = verdict.asked.object ?? current;
          const changed = asWire(patchedBy(asJson(seen), verdict.patch, webhook.name));
          const patched = await converted(review.call.served, changed);
          if (printJson(patched) !== printJson(current)) changers.add(webhook);
          current = patched;
        }
        return changers;
      };
      const changers = await round(webhooks);
      // Those that ask for it see the object once more, if somebody after them has changed it.
      const again = webhooks.filter(
        (webhook, index) =>
          webhook.reinvocationPolicy === 'IfNeeded' && webhooks.slice(index + 1).some((later) => changers.has(later)),
      );
      await round(again);
      return current;
    },
    async validate(review, object, old) {
      const webhooks = isExempt(review) ? [] : webhooksIn(store, 'validating');
      const verdicts = await Promise.allSettled(webhooks.map((webhook) => ask(webhook, review, object, old)));
      for (const verdict of verdicts) {
        if (verdict.status === 'rejected') throw verdict.reason;
        review.call.warnings.push(...(verdict.value?.warnings ?? []));
      }
    },
  };
}

/** Nobody can lock themselves out of the configurations, and reviews are no objects. */
const isExempt = ({ call }: Review) => call.served.kind.group === 'admissionregistration.k8s.io';

interface Asked {
  readonly webhook: Webhook;
  readonly review: Review;
  /** The version it is asked about, and the objects in it. */
  readonly served: ServedResource;
  readonly object: WireObject | undefined;
  readonly old: WireObject | undefined;
}

function conditionsAllow(asked: Asked): boolean {
  const { webhook, review, object, old } = asked;
  const request = requestOf(asked, '');
  try {
    return conditionsHold(webhook, { object: object ?? null, oldObject: old ?? null, request });
  } catch (error) {
    if (webhook.failurePolicy === 'Ignore') return false;
    const why = error instanceof Error ? error.message : String(error);
    throw forbidden(
      review.call.served.kind,
      review.name,
      `evaluating match conditions of webhook "${webhook.name}": ${why}`,
    );
  }
}

async function answerOf(asked: Asked, caller: WebhookCaller): Promise<Verdict | undefined> {
  const { webhook, review } = asked;
  if (review.isDryRun && webhook.sideEffects !== 'None' && webhook.sideEffects !== 'NoneOnDryRun') {
    throw badRequest(`admission webhook ${JSON.stringify(webhook.name)} does not support dry run`);
  }
  const uid = caller.requestId();
  const body = { kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1', request: requestOf(asked, uid) };
  const seconds = webhook.timeoutSeconds ?? 10;
  try {
    return verdictIn(await caller.call(withTimeoutIn(webhook, seconds), body, seconds * 1000), webhook.name, uid);
  } catch (error) {
    if (error instanceof StatusError) throw error;
    if (webhook.failurePolicy === 'Ignore') return undefined;
    const why = error instanceof Error ? error.message : String(error);
    throw internalError(`failed calling webhook ${JSON.stringify(webhook.name)}: ${why}`);
  }
}

/** The webhook is told how long it has. */
function withTimeoutIn({ clientConfig }: Webhook, seconds: number) {
  const query = `timeout=${seconds}s`;
  const { url, service } = clientConfig;
  if (url !== undefined) return { ...clientConfig, url: `${url}${url.includes('?') ? '&' : '?'}${query}` };
  return { ...clientConfig, service: { ...service, path: `${service?.path ?? ''}?${query}` } };
}

function requestOf({ review, served, object, old }: Asked, uid: string) {
  const { call, operation, name, isDryRun } = review;
  const { kind: requestKind, resource: requestResource } = named(call.served);
  return {
    uid,
    ...named(served),
    ...(call.subresource !== undefined && { subResource: call.subresource, requestSubResource: call.subresource }),
    requestKind,
    requestResource,
    name,
    ...(call.namespace !== undefined && { namespace: call.namespace }),
    operation,
    userInfo: USER,
    object: object ?? null,
    oldObject: old ?? null,
    dryRun: isDryRun,
    options: { kind: OPTIONS[operation], apiVersion: 'meta.k8s.io/v1' },
  };
}

const named = ({ kind: { group, version, kind, plural } }: ServedResource) => ({
  kind: { group, version, kind },
  resource: { group, version, resource: plural },
});

const OPTIONS = { CREATE: 'CreateOptions', UPDATE: 'UpdateOptions', DELETE: 'DeleteOptions' } as const;
