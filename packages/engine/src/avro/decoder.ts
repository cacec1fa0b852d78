import type { Type } from 'avsc';
import { messageOf } from '../log.ts';
import { type Printer, printerOf } from './printer.ts';
import type { Lookup } from './schema-registry.ts';
import { parseSchema } from './types.ts';

export type Decoded = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly because: string };

export interface AvroDecoderOptions {
  /** The schema, as JSON, of values that do not name theirs. */
  readonly schema?: string | undefined;
  /** Where to ask for the schemas that values name. */
  readonly registry?: { lookUp(id: number, signal: AbortSignal): Promise<Lookup> } | undefined;
}

const MAGIC = 0;
/** The magic byte and the id of the schema. */
const FRAME_BYTES = 5;
/** An id that is unknown today may be registered tomorrow; not every message of a flood has to ask. */
const UNKNOWN_KEPT = 1_000;

/**
 * Makes JSON of Avro. A value in Confluent's frame names its schema; every other one has the schema of the configuration. A
 * value that can't be decoded is an answer, not an error: it has to end up somewhere.
 */
export class AvroDecoder {
  readonly #registry: AvroDecoderOptions['registry'];
  readonly #own: Codec | undefined;
  readonly #known = new Map<number, Codec | { readonly broken: string; uses: number }>();

  /** Throws if the schema is none. */
  constructor({ schema, registry }: AvroDecoderOptions) {
    this.#registry = registry;
    this.#own = schema === undefined ? undefined : codecOf(schema);
  }

  decode(bytes: Buffer, signal: AbortSignal): Decoded | Promise<Decoded> {
    const isFramed = bytes.length > FRAME_BYTES && bytes[0] === MAGIC;
    if (!isFramed || this.#registry === undefined) return this.#decodeOwn(bytes, isFramed);
    const id = bytes.readUInt32BE(1);
    const body = bytes.subarray(FRAME_BYTES);
    const known = this.#known.get(id);
    if (known === undefined) return this.#learn(id, body, signal);
    if ('print' in known) return decodeWith(known, body);
    if (known.uses++ >= UNKNOWN_KEPT) this.#known.delete(id);
    return { ok: false, because: known.broken };
  }

  #decodeOwn(bytes: Buffer, isFramed: boolean): Decoded {
    if (this.#own === undefined)
      return { ok: false, because: 'the value does not name its schema, and none is configured' };
    const decoded = decodeWith(this.#own, bytes);
    if (decoded.ok || !isFramed) return decoded;
    // Framed, but without a registry to ask: the configured schema is the one that is meant.
    const inFrame = decodeWith(this.#own, bytes.subarray(FRAME_BYTES));
    return inFrame.ok ? inFrame : decoded;
  }

  async #learn(id: number, body: Buffer, signal: AbortSignal): Promise<Decoded> {
    const lookup = await this.#registry?.lookUp(id, signal);
    if (!lookup?.found) {
      const broken = lookup?.because ?? '';
      this.#known.set(id, { broken, uses: 0 });
      return { ok: false, because: broken };
    }
    try {
      const codec = codecOf(lookup.schema, lookup.references);
      this.#known.set(id, codec);
      return decodeWith(codec, body);
    } catch (error) {
      const broken = `schema ${id} of the registry can't be used: ${messageOf(error)}`;
      this.#known.set(id, { broken, uses: 0 });
      return { ok: false, because: broken };
    }
  }
}

interface Codec {
  readonly type: Type;
  readonly print: Printer;
}

function codecOf(schema: string, references: readonly string[] = []): Codec {
  const type = parseSchema(schema, references);
  return { type, print: printerOf(type) };
}

function decodeWith({ type, print }: Codec, bytes: Buffer): Decoded {
  try {
    const value: unknown = type.fromBuffer(bytes);
    return { ok: true, text: print(value) };
  } catch (error) {
    return { ok: false, because: `the value is not Avro of its schema: ${messageOf(error)}` };
  }
}
