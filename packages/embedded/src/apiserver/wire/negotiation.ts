import { StatusError } from '../status.ts';

/** How the client wants objects: whole, as rows of a table, or their metadata only. */
export type Form = 'object' | 'table' | 'metadata' | 'metadata-list';

export interface Representation {
  readonly form: Form;
  readonly encoding: 'json' | 'yaml';
}

const FORMS: Readonly<Record<string, Form>> = {
  Table: 'table',
  PartialObjectMetadata: 'metadata',
  PartialObjectMetadataList: 'metadata-list',
};

/** The first acceptable range wins; kubectl lists tables of several versions and plain JSON last. */
export function negotiate(accept: string | undefined, isWatch: boolean): Representation {
  const ranges = accept === undefined || accept === '' ? ['*/*'] : accept.split(',');
  for (const range of ranges) {
    const representation = representationOf(range);
    if (representation !== undefined && !(isWatch && representation.encoding === 'yaml')) return representation;
  }
  throw notAcceptable(ranges, isWatch);
}

function representationOf(range: string): Representation | undefined {
  const [type = '', ...parameters] = range.split(';').map((part) => part.trim());
  const encoding = type === 'application/yaml' ? 'yaml' : 'json';
  if (!['application/json', 'application/yaml', 'application/*', '*/*'].includes(type)) return undefined;
  const named = new Map(parameters.map((parameter) => [parameter.split('=')[0], parameter.split('=')[1]]));
  const as = named.get('as');
  if (as === undefined) return { form: 'object', encoding };
  const form = FORMS[as];
  if (form === undefined || named.get('g') !== 'meta.k8s.io' || named.get('v') !== 'v1') return undefined;
  return { form, encoding };
}

function notAcceptable(ranges: readonly string[], isWatch: boolean): StatusError {
  if (isWatch) {
    const message = 'only the following media types are accepted: application/json;stream=watch';
    return new StatusError(406, 'NotAcceptable', message);
  }
  // A known media type in an unknown form is told apart from an unknown media type.
  const isKnown = ranges.some((range) => /^\s*application\/(json|yaml)/.test(range));
  return isKnown
    ? new StatusError(
        406,
        'NotAcceptable',
        'only the following media types are accepted: application/json, application/yaml',
      )
    : new StatusError(
        406,
        'NotAcceptable',
        '406: Not Acceptable\n\nAvailable representations: application/json, application/yaml',
        {},
      );
}
