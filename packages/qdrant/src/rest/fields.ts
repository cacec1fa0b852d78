import { isRecord } from './body.ts';

/** Reads the fields of a body one after the other, and notes what is wrong with each. Null is as good as nothing. */
export class Fields {
  readonly #object: Readonly<Record<string, unknown>>;
  readonly #at: string;
  readonly #details: string[];

  constructor(object: Readonly<Record<string, unknown>>, at = '', details: string[] = []) {
    this.#object = object;
    this.#at = at;
    this.#details = details;
  }

  /** Everything that was noted, also of the objects in it. */
  get details(): readonly string[] {
    return this.#details;
  }

  has(field: string): boolean {
    return this.#get(field) !== undefined;
  }

  note(field: string, problem: string): void {
    this.#details.push(`${this.#at}${field} ${problem}`);
  }

  /** One with no fields if there is no such object. */
  object(field: string): Fields {
    const value = this.#get(field);
    const isObject = isRecord(value);
    if (value !== undefined && !isObject) this.note(field, 'must be an object');
    return new Fields(isObject ? value : {}, `${this.#at}${field}.`, this.#details);
  }

  text(field: string): string | undefined {
    const value = this.#get(field);
    if (value === undefined || typeof value === 'string') return value;
    this.note(field, 'must be a string');
    return undefined;
  }

  /** Text that must be there. */
  required(field: string): string {
    const value = this.#get(field);
    if (value === undefined || value === '') this.note(field, 'is required');
    return this.text(field) ?? '';
  }

  flag(field: string): boolean | undefined {
    const value = this.#get(field);
    if (value === undefined || typeof value === 'boolean') return value;
    this.note(field, 'must be true or false');
    return undefined;
  }

  /** A whole number from 1 on. */
  count(field: string, problem = 'must be a positive integer'): number | undefined {
    const value = this.#get(field);
    if (value === undefined || (typeof value === 'number' && Number.isSafeInteger(value) && value >= 1)) return value;
    this.note(field, problem);
    return undefined;
  }

  oneOf<const W extends string>(field: string, words: readonly W[]): W | undefined {
    const value = this.#get(field);
    const found = words.find((word) => word === value);
    if (value !== undefined && found === undefined) this.note(field, `must be one of: ${words.join(', ')}`);
    return found;
  }

  #get(field: string): unknown {
    return Object.hasOwn(this.#object, field) ? (this.#object[field] ?? undefined) : undefined;
  }
}
