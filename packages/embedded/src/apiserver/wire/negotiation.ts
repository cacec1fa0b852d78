import { StatusError } from '../status.ts';

/** How the client wants objects: whole, as rows of a table, or their metadata only. */
export type Form = 'object' | 'table' | 'metadata' | 'metadata-list';

const FORMS: Readonly<Record<string, Form>> = {
  Table: 'table',
  PartialObjectMetadata: 'metadata',
  PartialObjectMetadataList: 'metadata-list',
};

/** The first acceptable range wins; kubectl lists tables of several versions and plain JSON last. */
export function negotiate(accept: string | undefined): Form {
  const ranges = accept === undefined || accept === '' ? ['*/*'] : accept.split(',');
  for (const range of ranges) {
    const form = formOf(range);
    if (form !== undefined) return form;
  }
  throw notAcceptable();
}

function formOf(range: string): Form | undefined {
  const [type = '', ...parameters] = range.split(';').map((part) => part.trim());
  if (!['application/json', 'application/*', '*/*'].includes(type)) return undefined;
  const named = Object.fromEntries(parameters.map((parameter) => parameter.split('=')));
  if (named['as'] === undefined) return 'object';
  if (named['g'] !== 'meta.k8s.io' || named['v'] !== 'v1') return undefined;
  return FORMS[named['as']];
}

const notAcceptable = () =>
  new StatusError(406, 'NotAcceptable', 'only the following media types are accepted: application/json', {});
