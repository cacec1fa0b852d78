import type { FieldError } from '../status.ts';
import type { CrdConversion } from './crd.ts';
import { child, forbidden, indexed, invalidValue, notSupported, required } from './field-errors.ts';
import { dns1035LabelErrors, dns1123LabelErrors } from './names.ts';

const PATH = 'spec.conversion';
const CLIENT = `${PATH}.webhookClientConfig`;

/** Between versions nothing is changed, or a webhook is asked. */
export function validateConversion(conversion: CrdConversion = {}): readonly FieldError[] {
  const { strategy = '', webhook } = conversion;
  const strategies = ['None', 'Webhook'];
  if (strategy === '') return [required(child(PATH, 'strategy'))];
  const errors = strategies.includes(strategy) ? [] : [notSupported(child(PATH, 'strategy'), strategy, strategies)];
  if (strategy === 'Webhook') return [...errors, ...validateClient(webhook), ...validateReviewVersions(webhook)];
  const detail = 'should not be set when strategy is not set to Webhook';
  if (webhook?.clientConfig !== undefined) errors.push(forbidden(CLIENT, detail));
  if (webhook?.conversionReviewVersions?.length) {
    errors.push(forbidden(child(PATH, 'conversionReviewVersions'), detail));
  }
  return errors;
}

function validateClient(webhook: CrdConversion['webhook']): readonly FieldError[] {
  const client = webhook?.clientConfig;
  if (client === undefined) return [required(CLIENT, 'required when strategy is set to Webhook')];
  const { url, service } = client;
  if ((url === undefined) === (service === undefined)) {
    return [required(CLIENT, 'exactly one of url or service is required')];
  }
  return url === undefined ? validateService(service ?? {}) : validateUrl(url);
}

function validateUrl(text: string): readonly FieldError[] {
  const path = child(CLIENT, 'url');
  const form = '; desired format: https://host[/path]';
  if (!URL.canParse(text)) return [required(path, `url must be a valid URL: parse ${JSON.stringify(text)}${form}`)];
  const url = new URL(text);
  const scheme = url.protocol.slice(0, -1);
  const errors: FieldError[] = [];
  if (scheme !== 'https') errors.push(invalidValue(path, scheme, `'https' is the only allowed URL scheme${form}`));
  if (url.host === '') errors.push(invalidValue(path, '', `host must be specified${form}`));
  if (url.username !== '')
    errors.push(invalidValue(path, url.username, 'user information is not permitted in the URL'));
  if (url.hash !== '') errors.push(invalidValue(path, url.hash.slice(1), 'fragments are not permitted in the URL'));
  if (url.search !== '') {
    errors.push(invalidValue(path, url.search.slice(1), 'query parameters are not permitted in the URL'));
  }
  return errors;
}

type Service = NonNullable<NonNullable<NonNullable<CrdConversion['webhook']>['clientConfig']>['service']>;

const serviceField = (field: string) => child(child(CLIENT, 'service'), field);

function validateService({ name = '', namespace = '', path, port = 443 }: Service): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (name === '') errors.push(required(serviceField('name')));
  if (namespace === '') errors.push(required(serviceField('namespace')));
  if (!Number.isInteger(port) || port < 1 || port > 65_535) {
    const detail = 'port is not valid: must be between 1 and 65535, inclusive';
    errors.push(invalidValue(serviceField('port'), port, detail));
  }
  return path === undefined ? errors : [...errors, ...validatePath(path, serviceField('path'))];
}

function validatePath(text: string, path: string): readonly FieldError[] {
  if (text === '/' || text === '') return [];
  if (text === '//') return [invalidValue(path, text, 'segment[0] may not be empty')];
  const errors = text.startsWith('/') ? [] : [invalidValue(path, text, "must start with a '/'")];
  const segments = (text.endsWith('/') ? text.slice(1, -1) : text.slice(1)).split('/');
  for (const [index, segment] of segments.entries()) {
    if (segment === '') errors.push(invalidValue(path, text, `segment[${index}] may not be empty`));
    else {
      const complaints = dns1123LabelErrors(segment.toLowerCase());
      errors.push(...complaints.map((says) => invalidValue(path, text, `segment[${index}]: ${says}`)));
    }
  }
  return errors;
}

function validateReviewVersions(webhook: CrdConversion['webhook']): readonly FieldError[] {
  const path = child(PATH, 'conversionReviewVersions');
  const versions = webhook?.conversionReviewVersions ?? [];
  if (versions.length === 0) return [required(path)];
  const errors = versions.flatMap((version, index): FieldError[] => {
    const at = indexed(path, index);
    if (versions.indexOf(version) < index) return [invalidValue(at, version, 'duplicate version')];
    return dns1035LabelErrors(version).map((says) => invalidValue(at, version, says));
  });
  if (!versions.includes('v1') && !versions.includes('v1beta1')) {
    errors.push(invalidValue(path, versions, 'must include at least one of v1, v1beta1'));
  }
  return errors;
}
