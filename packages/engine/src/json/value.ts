/**
 * JSON as a pipeline must carry it: numbers keep their spelling, objects the order of their keys. Most documents need
 * nothing special for that and are what `JSON.parse` makes of them; the two classes stand in where a JavaScript value would
 * not come out as it went in.
 */
export type Json = JsonScalar | JsonArray | JsonObject;
export type JsonScalar = null | boolean | string | number | ExactNumber;
export type JsonArray = readonly Json[];

/** Read and change it with the functions of `object.ts`, which know both forms. */
export type JsonObject = PlainObject | OrderedObject;
export interface PlainObject {
  readonly [key: string]: Json;
}

/** A number that JavaScript would spell otherwise: `0.10`, `1e3`, `-0`, `9007199254740993`. */
export class ExactNumber {
  readonly spelling: string;

  constructor(spelling: string) {
    this.spelling = spelling;
  }

  toJSON(): object {
    return JSON.rawJSON(this.spelling);
  }

  toString(): string {
    return this.spelling;
  }
}

/** An object with a key like `10`, which JavaScript would move to the front. */
export class OrderedObject {
  readonly members: ReadonlyMap<string, Json>;

  constructor(members: ReadonlyMap<string, Json>) {
    this.members = members;
  }

  /** For those who print with `JSON.stringify`: right but for the order. `printJson` keeps that, too. */
  toJSON(): object {
    OrderedObject.#met = true;
    return Object.fromEntries(this.members);
  }

  static #met = false;

  /** Whether `act` turned one into a plain object: to look through the whole document beforehand would cost more. */
  static isMetBy(act: () => void): boolean {
    OrderedObject.#met = false;
    act();
    return OrderedObject.#met;
  }
}

export const isNumber = (value: Json | undefined): value is number | ExactNumber =>
  typeof value === 'number' || value instanceof ExactNumber;

export const isArray = (value: Json | undefined): value is JsonArray => Array.isArray(value);

export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof ExactNumber);
