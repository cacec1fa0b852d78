import { isUtf8 } from 'node:buffer';
import { ExactNumber, isObject, type Json, OrderedObject } from '../json/index.ts';
import type { Failure, Message } from '../message.ts';
import { Payload } from '../payload.ts';

/** What the error sink gets of a message that failed: enough to see why, and to send it again. */
export function errorRecord({ message, because }: Failure, originalSink: string, now: number): Message {
  const timestamp = new Date(now).toISOString();
  const { metadata } = message;
  const hasMetadata = Object.keys(metadata).length > 0;
  const error = { message: because, timestamp, original_sink: originalSink };
  return {
    payload: Payload.ofJson({
      error: hasMetadata ? { ...error, metadata: jsonOf(metadata) } : error,
      original_message: originalOf(message.payload),
    }),
    metadata: {
      ...metadata,
      error: because,
      error_timestamp: timestamp,
      original_sink: originalSink,
      is_error_message: true,
    },
    origin: message.origin,
  };
}

function originalOf(payload: Payload | null): Json {
  if (payload === null) return { original_data: null };
  const { json } = payload;
  if (json !== undefined && isObject(json)) return json;
  // Text can't show bytes that are no text, and they are all there is left of the message.
  if (isUtf8(payload.bytes)) return { original_data: payload.text };
  return { original_data: payload.text, original_data_base64: payload.bytes.toString('base64') };
}

/** Metadata may hold whatever a source put there. */
function jsonOf(value: unknown): Json {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  if (value instanceof ExactNumber || value instanceof OrderedObject) return value;
  if (value instanceof Date) return value.toISOString();
  if (Buffer.isBuffer(value)) return value.toString('utf8');
  if (Array.isArray(value)) return value.map(jsonOf);
  if (typeof value === 'object') return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, jsonOf(v)]));
  return typeof value === 'bigint' ? value.toString() : null;
}
