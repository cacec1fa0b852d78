import type { Clock } from '../clock.ts';
import { type Json, parseJson } from '../json/index.ts';
import type { Message } from '../message.ts';
import { overObjects } from './document.ts';
import { metadataText } from './metadata-text.ts';
import { Path } from './path.ts';
import { compileFormat, instantOfMilliseconds } from './time/index.ts';
import { ConfigError, type Transform } from './transform.ts';

export interface InsertFieldConfig {
  /** By path: plain text, `${metadata.<key>}`, `${now}`, or `json:<value>`. */
  readonly fields: Readonly<Record<string, string>>;
}

type Value = (message: Message) => Json;

/** Sets fields, whether they exist or not. */
export function insertField({ fields }: InsertFieldConfig, clock: Pick<Clock, 'now'>): Transform {
  const inserts = Object.entries(fields).map(([path, value]) => {
    const field = `fields[${path}]`;
    return { path: Path.compileTarget(field, path), value: compileValue(field, value, clock) };
  });
  if (inserts.length === 0) throw new ConfigError('fields', 'at least one field is required');
  return overObjects((document, message) => {
    let changed: Json = document;
    for (const { path, value } of inserts) changed = path.set(changed, value(message));
    return changed;
  });
}

const METADATA = /^\$\{metadata\.([^}]+)\}$/;
const rfc3339 = compileFormat('RFC3339');

function compileValue(field: string, value: string, clock: Pick<Clock, 'now'>): Value {
  if (value === '${now}') return () => rfc3339(instantOfMilliseconds(clock.now()));
  const key = METADATA.exec(value)?.[1];
  if (key !== undefined)
    return ({ metadata }) => metadataText(Object.hasOwn(metadata, key) ? metadata[key] : undefined);
  if (!value.startsWith('json:')) return () => value;
  const json = parseJson(value.slice('json:'.length));
  if (json === undefined) throw new ConfigError(field, "after 'json:' stands no valid JSON");
  return () => json;
}
