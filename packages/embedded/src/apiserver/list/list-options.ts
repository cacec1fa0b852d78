import { badRequest, type FieldError, invalid } from '../status.ts';

/** The query of a list or a watch. */
export interface ListOptions {
  readonly labelSelector: string;
  readonly fieldSelector: string;
  readonly resourceVersion: string;
  readonly resourceVersionMatch: string;
  readonly limit: number;
  readonly continue: string;
  readonly watch: boolean;
  readonly sendInitialEvents: boolean | undefined;
  readonly allowWatchBookmarks: boolean;
  readonly timeoutSeconds: number | undefined;
}

export function parseListOptions(query: URLSearchParams): ListOptions {
  const options: ListOptions = {
    labelSelector: query.get('labelSelector') ?? '',
    fieldSelector: query.get('fieldSelector') ?? '',
    resourceVersion: query.get('resourceVersion') ?? '',
    resourceVersionMatch: query.get('resourceVersionMatch') ?? '',
    limit: integer(query, 'limit') ?? 0,
    continue: query.get('continue') ?? '',
    watch: boolean(query, 'watch') ?? false,
    sendInitialEvents: boolean(query, 'sendInitialEvents'),
    allowWatchBookmarks: boolean(query, 'allowWatchBookmarks') ?? false,
    timeoutSeconds: integer(query, 'timeoutSeconds'),
  };
  const errors = objections(options);
  if (errors.length > 0) throw invalid({ group: 'meta.k8s.io', plural: '', kind: 'ListOptions' }, '', errors);
  return options;
}

function integer(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null || text === '') return undefined;
  if (!/^[+-]?\d+$/.test(text)) throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
  return Number(text);
}

/** Go's way: anything but an explicit no is a yes. */
export function boolean(query: URLSearchParams, name: string): boolean | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  return text !== 'false' && text !== '0';
}

function objections(options: ListOptions): readonly FieldError[] {
  const { resourceVersion, resourceVersionMatch: match, sendInitialEvents, watch } = options;
  const forbidden = (field: string, detail: string): FieldError => ({ type: 'Forbidden', field, detail });
  const errors: FieldError[] = [];
  if (watch) {
    if (match !== '' && sendInitialEvents === undefined) {
      errors.push(
        forbidden(
          'resourceVersionMatch',
          'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided',
        ),
      );
    }
    if (sendInitialEvents !== undefined) {
      if (match !== 'NotOlderThan') {
        errors.push(
          forbidden('resourceVersionMatch', 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'),
        );
      }
      if (match !== '' && match !== 'NotOlderThan') errors.push(unsupportedMatch(match, ['NotOlderThan']));
    }
    return errors;
  }
  if (sendInitialEvents !== undefined) {
    errors.push(forbidden('sendInitialEvents', 'sendInitialEvents is forbidden for list'));
  }
  if (match === '') return errors;
  if (options.continue !== '') {
    errors.push(forbidden('resourceVersionMatch', 'resourceVersionMatch is forbidden when continue is provided'));
  }
  if (resourceVersion === '') {
    errors.push(
      forbidden('resourceVersionMatch', 'resourceVersionMatch is forbidden unless resourceVersion is provided'),
    );
  } else if (match !== 'Exact' && match !== 'NotOlderThan') {
    errors.push(unsupportedMatch(match, ['Exact', 'NotOlderThan', '']));
  } else if (match === 'Exact' && resourceVersion === '0') {
    errors.push(forbidden('resourceVersionMatch', 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'));
  }
  return errors;
}

const unsupportedMatch = (value: string, supported: readonly string[]): FieldError => ({
  type: 'NotSupported',
  field: 'resourceVersionMatch',
  value,
  detail: `supported values: ${supported.map((one) => JSON.stringify(one)).join(', ')}`,
});
