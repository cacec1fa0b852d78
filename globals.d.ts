/** What Node 24 has and TypeScript's library does not know yet. Declared once: overloads of one name match in the order of files. */
interface JSON {
  /** A reviver also learns how a number was spelled. */
  parse<T>(text: string, reviver: (key: string, value: T, context: { readonly source?: string }) => T): T;
  rawJSON(text: string): object;
}
