/** A JSON value. Objects keep the order of their keys, numbers their spelling: see `README` of this folder. */
export type Json = null | boolean | string | number | readonly Json[] | { readonly [key: string]: Json };

/** Undefined: it is no JSON. */
export function parseJson(text: string): Json | undefined {
  try {
    const value: Json = JSON.parse(text);
    return value;
  } catch {
    return undefined;
  }
}

export const printJson = (value: Json): string => JSON.stringify(value);
