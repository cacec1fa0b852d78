import { isUtf8 } from 'node:buffer';
import { type Json, parseJson, printJson } from './json/index.ts';

/** Nobody has asked yet whether it is JSON; undefined says that it is none. */
const UNREAD = Symbol('unread');

/**
 * What a message carries, in the form in which it is at hand: bytes from a wire, text, or a JSON value that a transformation
 * made. Other forms are made when somebody asks and kept, so that what nobody looks at is never decoded, and what nobody
 * changed leaves byte for byte as it came.
 */
export class Payload {
  #bytes: Buffer | undefined;
  #text: string | undefined;
  #json: Json | undefined | typeof UNREAD;

  private constructor(bytes: Buffer | undefined, text: string | undefined, json: Json | typeof UNREAD) {
    this.#bytes = bytes;
    this.#text = text;
    this.#json = json;
  }

  static ofBytes(bytes: Buffer): Payload {
    return new Payload(bytes, undefined, UNREAD);
  }

  static ofText(text: string): Payload {
    return new Payload(undefined, text, UNREAD);
  }

  /** Must not be changed from here on: others may share parts of it. */
  static ofJson(value: Json): Payload {
    return new Payload(undefined, undefined, value);
  }

  /** Bytes that are no UTF-8 become replacement characters here; `bytes` still has them. */
  get text(): string {
    if (this.#text !== undefined) return this.#text;
    if (this.#bytes !== undefined) this.#text = this.#bytes.toString('utf8');
    else this.#text = this.#json === UNREAD || this.#json === undefined ? '' : printJson(this.#json);
    return this.#text;
  }

  get bytes(): Buffer {
    this.#bytes ??= Buffer.from(this.text);
    return this.#bytes;
  }

  /** Undefined: it is no JSON. Nor are bytes that are no UTF-8: what is made of them would have lost some. */
  get json(): Json | undefined {
    if (this.#json === UNREAD) {
      const isText = this.#bytes === undefined || isUtf8(this.#bytes);
      this.#json = isText ? parseJson(this.text) : undefined;
    }
    return this.#json;
  }

  /**
   * For one that will wait: a JSON value takes several times the memory of its text, so it is printed now, and let go. Whoever
   * asks for it again has it parsed again.
   */
  pack(): void {
    if (this.#bytes === undefined && this.#text === undefined) this.#text = this.text;
    this.#json = UNREAD;
  }

  /** Its size in bytes, or nearly: what batches and memory limits count. */
  get size(): number {
    return this.#bytes?.length ?? this.text.length;
  }

  /** Cheaper than its size: a JSON value need not be printed to be something. */
  get isEmpty(): boolean {
    return this.#bytes === undefined ? this.#text === '' : this.#bytes.length === 0;
  }
}
