/** What a catalog answered, read with types. Whatever is missing or of the wrong kind is named with its path. */
import { entriesOf, get, isArray, isNumber, isObject, type Json, parseJson, spellingOf } from '../json/index.ts';
import { IcebergError } from './trouble.ts';

export class Answer {
  readonly #value: Json | undefined;
  readonly #path: string;

  private constructor(value: Json | undefined, path: string) {
    this.#value = value;
    this.#path = path;
  }

  /** `what` is named in errors: `the table`, `the answer of Nessie`. */
  static parse(text: string, what: string): Answer {
    const value = parseJson(text);
    if (value === undefined) throw new IcebergError(`${what} is no JSON`, { type: 'invalid_data', isRetryable: false });
    return new Answer(value, what);
  }

  static of(value: Json, what: string): Answer {
    return new Answer(value, what);
  }

  /** Neither left out nor null. */
  get isGiven(): boolean {
    return this.#value !== undefined && this.#value !== null;
  }

  get isText(): boolean {
    return typeof this.#value === 'string';
  }

  get json(): Json {
    return this.#value ?? null;
  }

  get text(): string {
    return typeof this.#value === 'string' ? this.#value : this.#fail('a text');
  }

  get flag(): boolean {
    return typeof this.#value === 'boolean' ? this.#value : this.#fail('true or false');
  }

  get int(): number {
    return typeof this.#value === 'number' && Number.isInteger(this.#value) ? this.#value : this.#fail('an integer');
  }

  /** Ids of snapshots have 64 bits. */
  get long(): bigint {
    const spelling = isNumber(this.#value) ? spellingOf(this.#value) : '';
    return /^-?\d+$/.test(spelling) ? BigInt(spelling) : this.#fail('an integer');
  }

  get list(): readonly Answer[] {
    if (!isArray(this.#value)) return this.#fail('a list');
    return this.#value.map((item, index) => new Answer(item, `${this.#path}[${index}]`));
  }

  /** The values that are texts, by their keys. */
  get texts(): ReadonlyMap<string, string> {
    if (!isObject(this.#value)) return this.#fail('an object');
    const texts = new Map<string, string>();
    for (const [key, value] of entriesOf(this.#value)) if (typeof value === 'string') texts.set(key, value);
    return texts;
  }

  field(name: string): Answer {
    if (!isObject(this.#value)) return this.#fail('an object');
    return new Answer(get(this.#value, name), `${this.#path}: ${name}`);
  }

  #fail(wanted: string): never {
    throw new IcebergError(`${this.#path} is not ${wanted}`, { type: 'invalid_data', isRetryable: false });
  }
}
