import { applyAll, type Compiled, compileTransforms, type Message, type Metadata, Payload } from '@polder/engine';
import { get, hasOnly, isObject, type Json, parseJson, printJson } from '@polder/engine/json';
import { describeErrors, joinSecrets, normalise, secretRefsOf } from '@polder/engine/spec';
import type { Clock } from '@polder/kube';
import type { Flow } from './flows.ts';

/** What becomes of one message, as a line of output. */
export interface Outcome {
  readonly data: string | null;
  readonly metadata: Metadata;
  /** `main`, `route:<condition>`, `error` or `dropped`. */
  readonly to: string;
  readonly error?: string;
}

/** The transformations of a flow alone, without its connections: what they would do with a message. */
export class Trial {
  readonly #transformations: readonly Compiled[];
  readonly #clock: Pick<Clock, 'now'>;
  #count = 0;

  constructor({ spec, at, name }: Flow, clock: Pick<Clock, 'now'>) {
    // Nothing is connected, so no secret is needed: any text will do in its place.
    const placeholders = new Map(secretRefsOf(spec).map(({ pointer, key }) => [pointer, key]));
    const normalised = normalise(joinSecrets(spec, placeholders));
    if (!normalised.isValid) throw new Error(`${at}: DataFlow ${name}: ${describeErrors(normalised.errors)}`);
    this.#transformations = compileTransforms(normalised.spec.transformations ?? [], clock);
    this.#clock = clock;
  }

  run(payload: Payload | null, metadata: Metadata): readonly Outcome[] {
    const origin = { partition: 'input', sequence: this.#count++, position: undefined, readAt: this.#clock.now() };
    const { outputs, failures } = applyAll(this.#transformations, { payload, metadata, origin });
    const outcomes = [
      ...outputs.map((message) => outcome(message, destinationOf(message))),
      ...failures.map(({ message, because }) => ({ ...outcome(message, 'error'), error: because })),
    ];
    return outcomes.length > 0 ? outcomes : [outcome({ payload, metadata, origin }, 'dropped')];
  }
}

const outcome = ({ payload, metadata }: Message, to: string): Outcome => ({
  data: payload?.text ?? null,
  metadata,
  to,
});

function destinationOf({ metadata }: Message): string {
  const { routed_condition: condition } = metadata;
  return typeof condition === 'string' ? `route:${condition}` : 'main';
}

/**
 * One line of input: its text is the payload. With an envelope it is `{"data":…,"metadata":{…}}`, where data is any JSON value, or
 * `{"text":"…"}` or `{"base64":"…"}` for payloads that are none; without data there is no payload at all.
 */
export function parseInput(line: string, isEnvelope: boolean): { payload: Payload | null; metadata: Metadata } {
  if (!isEnvelope) return { payload: Payload.ofText(line), metadata: {} };
  const envelope = parseJson(line);
  if (envelope === undefined || !isObject(envelope))
    throw new Error('an envelope is an object: {"data":…,"metadata":{…}}');
  const metadata: unknown = JSON.parse(printJson(get(envelope, 'metadata') ?? {}));
  if (typeof metadata !== 'object' || metadata === null) throw new Error('the metadata of an envelope is an object');
  return { payload: payloadOf(get(envelope, 'data')), metadata: { ...metadata } };
}

function payloadOf(data: Json | undefined): Payload | null {
  if (data === undefined) return null;
  const only = (key: string) => (isObject(data) && hasOnly(data, key) ? get(data, key) : undefined);
  const [text, base64] = [only('text'), only('base64')];
  if (typeof text === 'string') return Payload.ofText(text);
  if (typeof base64 === 'string') return Payload.ofBytes(Buffer.from(base64, 'base64'));
  // As the text that a source would have handed over: numbers keep their spelling.
  return Payload.ofText(printJson(data));
}
