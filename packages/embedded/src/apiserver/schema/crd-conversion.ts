import type { FieldError } from '../status.ts';
import type { CrdConversion } from './crd.ts';
import { child, forbidden, notSupported, required } from './field-errors.ts';
import { validateReviewVersions, validateWebhookClient } from './webhook-client.ts';

const PATH = 'spec.conversion';
const CLIENT = `${PATH}.webhookClientConfig`;

/** Between versions nothing is changed, or a webhook is asked. */
export function validateConversion(conversion: CrdConversion = {}): readonly FieldError[] {
  const { strategy = '', webhook } = conversion;
  const strategies = ['None', 'Webhook'];
  if (strategy === '') return [required(child(PATH, 'strategy'))];
  const errors = strategies.includes(strategy) ? [] : [notSupported(child(PATH, 'strategy'), strategy, strategies)];
  if (strategy === 'Webhook') return [...errors, ...validateClient(webhook), ...validateVersions(webhook)];
  const detail = 'should not be set when strategy is not set to Webhook';
  if (webhook?.clientConfig !== undefined) errors.push(forbidden(CLIENT, detail));
  if (webhook?.conversionReviewVersions?.length) {
    errors.push(forbidden(child(PATH, 'conversionReviewVersions'), detail));
  }
  return errors;
}

function validateClient(webhook: CrdConversion['webhook']): readonly FieldError[] {
  const client = webhook?.clientConfig;
  return client === undefined
    ? [required(CLIENT, 'required when strategy is set to Webhook')]
    : validateWebhookClient(CLIENT, client);
}

function validateVersions(webhook: CrdConversion['webhook']): readonly FieldError[] {
  const path = child(PATH, 'conversionReviewVersions');
  const versions = webhook?.conversionReviewVersions ?? [];
  return versions.length === 0 ? [required(path)] : validateReviewVersions(path, versions);
}
