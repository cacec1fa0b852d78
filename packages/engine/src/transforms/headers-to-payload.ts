import type { Json } from '../json/index.ts';
import { overObjects } from './document.ts';
import { metadataText } from './metadata-text.ts';
import { pairOf } from './pair.ts';
import { Path } from './path.ts';
import { ConfigError, type Transform } from './transform.ts';

export interface HeadersToPayloadConfig {
  /** `Header:path`. */
  readonly mappings: readonly string[];
}

/** Headers of the record (metadata `headers`) as strings in the document. */
export function headersToPayload({ mappings }: HeadersToPayloadConfig): Transform {
  const compiled = mappings.map((mapping, index) => {
    const field = `mappings[${index}]`;
    const pair = pairOf(mapping);
    if (pair === undefined)
      throw new ConfigError(field, `invalid header mapping format: '${mapping}' is not 'Header:path'`);
    return { header: pair[0], path: Path.compileTarget(field, pair[1]) };
  });
  return overObjects((document, { metadata }) => {
    const { headers } = metadata;
    if (!isRecord(headers)) return document;
    let changed: Json = document;
    for (const { header, path } of compiled) {
      const value = Object.hasOwn(headers, header) ? headers[header] : undefined;
      if (value !== undefined && value !== null) changed = path.set(changed, metadataText(value));
    }
    return changed;
  });
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !Buffer.isBuffer(value);
