import { child, indexed } from './field-errors.ts';

/**
 * The paths of keys that a JSON text gives more than once in the same object. `JSON.parse` keeps the last one silently;
 * strict decoding on the real server refuses them. `text` must be valid JSON.
 */
export function duplicateKeys(text: string): readonly string[] {
  return new Scanner(text).duplicates();
}

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\]:,]|[^\s{}[\]:,"]+/gs;

class Scanner {
  readonly #tokens: readonly string[];
  readonly #found = new Set<string>();
  #at = 0;

  constructor(text: string) {
    this.#tokens = text.match(TOKEN) ?? [];
  }

  duplicates(): readonly string[] {
    this.#value('');
    return [...this.#found];
  }

  #value(path: string): void {
    const token = this.#tokens[this.#at++];
    if (token === '{') this.#object(path);
    else if (token === '[') this.#list(path);
  }

  #object(path: string): void {
    const names = new Set<string>();
    for (let token = this.#tokens[this.#at++]; token !== undefined && token !== '}'; token = this.#tokens[this.#at++]) {
      if (token === ',') continue;
      const name: string = JSON.parse(token);
      const here = child(path, name);
      if (names.has(name)) this.#found.add(here);
      names.add(name);
      this.#at++; // the colon
      this.#value(here);
    }
  }

  #list(path: string): void {
    for (let index = 0; this.#tokens[this.#at] !== undefined && this.#tokens[this.#at] !== ']'; ) {
      if (this.#tokens[this.#at] === ',') {
        this.#at++;
        index++;
      } else this.#value(indexed(path, index));
    }
    this.#at++;
  }
}
