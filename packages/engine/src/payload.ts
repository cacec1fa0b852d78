import { type Json, parseJson, printJson } from './json/index.ts';

/**
 * What a message carries, in the form in which it is at hand: bytes from a wire, text, or a JSON value that a transformation
 * made. Other forms are made when somebody asks and kept, so that what nobody looks at is never decoded, and what nobody
 * changed leaves byte for byte as it came.
 */
export class Payload {
  #bytes: Buffer | undefined;
  #text: string | undefined;
  #json: { readonly value: Json | undefined } | undefined;

  private constructor(form: { bytes?: Buffer; text?: string; json?: { value: Json } }) {
    this.#bytes = form.bytes;
    this.#text = form.text;
    this.#json = form.json;
  }

  static ofBytes(bytes: Buffer): Payload {
    return new Payload({ bytes });
  }

  static ofText(text: string): Payload {
    return new Payload({ text });
  }

  static ofJson(value: Json): Payload {
    return new Payload({ json: { value } });
  }

  /** Bytes that are no UTF-8 become replacement characters here; `bytes` still has them. */
  get text(): string {
    this.#text ??= this.#bytes ? this.#bytes.toString('utf8') : printJson(this.#json?.value ?? null);
    return this.#text;
  }

  get bytes(): Buffer {
    this.#bytes ??= Buffer.from(this.text);
    return this.#bytes;
  }

  /** Undefined: it is no JSON. */
  get json(): Json | undefined {
    this.#json ??= { value: parseJson(this.text) };
    return this.#json.value;
  }

  /** Its size in bytes, or nearly: what batches and memory limits count. */
  get size(): number {
    return this.#bytes?.length ?? this.text.length;
  }
}
