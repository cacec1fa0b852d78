export const PROTOBUF_V2 = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';

const JSON_RANGES = ['application/json', 'application/*', '*/*'];

/** Whether an `Accept` header can be answered with JSON. */
export const acceptsJson = (accept: string | undefined): boolean =>
  rangesOf(accept).some((range) => JSON_RANGES.includes(range));

/** The first of the two forms of `/openapi/v2` that an `Accept` header has; undefined if it has none. */
export function swaggerForm(accept: string | undefined): 'json' | 'protobuf' | undefined {
  for (const range of rangesOf(accept)) {
    if (JSON_RANGES.includes(range)) return 'json';
    // kubectl still asks by the older name, whose `@` no media type may have.
    if (range.replace('@', '.') === PROTOBUF_V2) return 'protobuf';
  }
  return undefined;
}

const rangesOf = (accept = '*/*') => accept.split(',').map((range) => (range.split(';')[0] ?? '').trim());
