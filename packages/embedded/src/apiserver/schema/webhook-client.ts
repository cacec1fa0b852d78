/** Where a webhook is and which reviews it understands: the same for conversion and for admission. */
import type { FieldError } from '../status.ts';
import { child, indexed, invalidValue, required } from './field-errors.ts';
import { dns1035LabelErrors, dns1123LabelErrors } from './names.ts';

export interface WebhookClient {
  readonly url?: string;
  readonly service?: WebhookService;
}

interface WebhookService {
  readonly name?: string;
  readonly namespace?: string;
  readonly path?: string;
  readonly port?: number;
}

export function validateWebhookClient(path: string, { url, service }: WebhookClient): readonly FieldError[] {
  if ((url === undefined) === (service === undefined)) {
    return [required(path, 'exactly one of url or service is required')];
  }
  return url === undefined
    ? validateService(child(path, 'service'), service ?? {})
    : validateUrl(child(path, 'url'), url);
}

/** Scheme, user, host, path, query, fragment. JavaScript's own parser would put right what has to be refused. */
const URL_PARTS = /^([a-z][a-z0-9+.-]*):(?:\/\/(?:([^@/?#]*)@)?([^/?#]*))?[^?#]*(?:\?([^#]*))?(?:#(.*))?$/i;

function validateUrl(path: string, text: string): readonly FieldError[] {
  const form = '; desired format: https://host[/path]';
  if (!URL.canParse(text)) return [required(path, `url must be a valid URL: parse ${JSON.stringify(text)}${form}`)];
  const [, scheme = '', user = '', host = '', query = '', fragment = ''] = URL_PARTS.exec(text) ?? [];
  const errors: FieldError[] = [];
  if (scheme !== 'https') errors.push(invalidValue(path, scheme, `'https' is the only allowed URL scheme${form}`));
  if (host === '') errors.push(invalidValue(path, '', `host must be specified${form}`));
  if (user !== '') errors.push(invalidValue(path, user, 'user information is not permitted in the URL'));
  if (fragment !== '') errors.push(invalidValue(path, fragment, 'fragments are not permitted in the URL'));
  if (query !== '') errors.push(invalidValue(path, query, 'query parameters are not permitted in the URL'));
  return errors;
}

function validateService(
  at: string,
  { name = '', namespace = '', path, port = 443 }: WebhookService,
): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (name === '') errors.push(required(child(at, 'name')));
  if (namespace === '') errors.push(required(child(at, 'namespace')));
  if (!Number.isInteger(port) || port < 1 || port > 65_535) {
    errors.push(invalidValue(child(at, 'port'), port, 'port is not valid: must be between 1 and 65535, inclusive'));
  }
  return path === undefined ? errors : [...errors, ...validatePath(path, child(at, 'path'))];
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

/** At least one that the server speaks, each once; others may be there for servers to come. */
export function validateReviewVersions(path: string, versions: readonly string[]): readonly FieldError[] {
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
