import { isObject, type Json, type JsonObject } from '../json/index.ts';
import type { Message } from '../message.ts';
import { Payload } from '../payload.ts';
import type { Transform } from './transform.ts';

export const withDocument = (message: Message, document: Json): Message => ({
  ...message,
  payload: Payload.ofJson(document),
});

/** Changes any JSON. What is no JSON, and what `change` returns as it was, passes untouched. */
export const overDocuments =
  (change: (document: Json, message: Message) => Json): Transform =>
  (message) => {
    const document = message.payload?.json;
    if (document === undefined) return [message];
    const changed = change(document, message);
    return [changed === document ? message : withDocument(message, changed)];
  };

/** Changes objects. Any other payload passes untouched. */
export const overObjects = (change: (document: JsonObject, message: Message) => Json): Transform =>
  overDocuments((document, message) => (isObject(document) ? change(document, message) : document));
