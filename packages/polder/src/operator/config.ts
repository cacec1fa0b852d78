import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { durationOf } from '@polder/engine/spec';
import { checkTimings, type Durations, defaultDurations, type Intervals, messageOf, nearest } from '@polder/kube';
import { isMap, isNode, isScalar, LineCounter, type Node, parseDocument } from 'yaml';
import type { BuiltInProduct } from '../products.ts';
import { SHARED, type SharedDurations, sharedIntervals, timingsOf } from './intervals.ts';
import { isAddress, isPattern, type ResolveRule } from './resolve.ts';

/** What `--config` says, with defaults for what it does not say. */
export interface OperatorConfig {
  readonly shared: SharedDurations;
  /** By the names of products. */
  readonly durations: Readonly<Record<string, Durations>>;
  readonly resolve: readonly ResolveRule[];
}

/** What a product may be asked for here. */
export type Configurable = Pick<BuiltInProduct, 'name' | 'intervals'>;

/** Everything that is wrong with a file, a line each. */
export class ConfigMistakes extends Error {
  override readonly name = 'ConfigMistakes';
}

export function defaultConfig(products: readonly Configurable[]): OperatorConfig {
  return configOf(products, {}, []);
}

export async function readConfig(path: string, products: readonly Configurable[]): Promise<OperatorConfig> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw new Error(`cannot read the configuration ${path}: ${messageOf(error)}`, { cause: error });
  });
  return parseConfig(text, basename(path), products);
}

/** Throws `ConfigMistakes` with all that is wrong at once. */
export function parseConfig(text: string, file: string, products: readonly Configurable[]): OperatorConfig {
  const reader = new Reader(text, file);
  const given = reader.read(products);
  if (reader.mistakes.length > 0) throw new ConfigMistakes(reader.mistakes.join('\n'));
  const config = configOf(products, given.durations, given.resolve);
  try {
    checkTimings(timingsOf(config.shared));
  } catch (error) {
    throw new ConfigMistakes(`${file}: intervals.${SHARED}: ${messageOf(error)}`);
  }
  return config;
}

type Given = Readonly<Record<string, Durations>>;

function configOf(products: readonly Configurable[], given: Given, resolve: readonly ResolveRule[]): OperatorConfig {
  return {
    shared: { ...defaultDurations(sharedIntervals), ...given[SHARED] },
    durations: Object.fromEntries(
      products.map(({ name, intervals }) => [name, { ...defaultDurations(intervals), ...given[name] }]),
    ),
    resolve,
  };
}

/** Reads one file, and notes every mistake with its line. */
class Reader {
  readonly #mistakes: { readonly line: number; readonly message: string }[] = [];
  readonly #file: string;
  readonly #lines = new LineCounter();
  readonly #document: ReturnType<typeof parseDocument>;

  constructor(text: string, file: string) {
    this.#file = file;
    this.#document = parseDocument(text, { lineCounter: this.#lines, prettyErrors: false });
  }

  /** From the top of the file to its end. */
  get mistakes(): readonly string[] {
    const ordered = this.#mistakes.toSorted((one, other) => one.line - other.line);
    return ordered.map(({ line, message }) => `${this.#file}, line ${line}: ${message}`);
  }

  read(products: readonly Configurable[]): { readonly durations: Given; readonly resolve: readonly ResolveRule[] } {
    for (const { pos, message } of this.#document.errors) this.#note(pos[0], message);
    const { contents } = this.#document;
    if (this.#mistakes.length > 0 || contents === null) return { durations: {}, resolve: [] };
    const { intervals, resolve } = this.#fields(contents, 'the configuration', ['intervals', 'resolve']);
    return { durations: this.#intervals(intervals, products), resolve: this.#resolve(resolve) };
  }

  #intervals(node: Node | undefined, products: readonly Configurable[]): Given {
    const groups = [{ name: SHARED, intervals: sharedIntervals }, ...products];
    const names = groups.map(({ name }) => name);
    const given = this.#fields(node, 'intervals', names);
    return Object.fromEntries(
      groups.map(({ name, intervals }) => [name, this.#durations(given[name], `intervals.${name}`, intervals)]),
    );
  }

  #durations(node: Node | undefined, at: string, intervals: Intervals): Durations {
    const given = this.#fields(node, at, Object.keys(intervals));
    const durations = Object.entries(given).flatMap(([name, value]): [string, number][] => {
      const duration = this.#duration(value, `${at}.${name}`);
      return duration === undefined ? [] : [[name, duration]];
    });
    return Object.fromEntries(durations);
  }

  #duration(node: Node | undefined, at: string): number | undefined {
    const text = textOf(node);
    const duration = durationOf(text);
    if (duration !== undefined && duration > 0) return duration;
    this.#note(node, `${at} is ${text || 'no text'}; a duration is longer than 0 and has units: 500ms, 5s, 1m30s`);
    return undefined;
  }

  #resolve(node: Node | undefined): readonly ResolveRule[] {
    return this.#pairs(node, 'resolve').flatMap(([pattern, value, key]) => {
      const to = textOf(value);
      if (!isPattern(pattern)) this.#note(key, `resolve: ${pattern} is no host:port (* stands for anything)`);
      else if (!isAddress(to))
        this.#note(value ?? key, `resolve: ${pattern} is to be at ${to || 'nothing'}, which is no host:port`);
      else return [{ pattern, to }];
      return [];
    });
  }

  /** The fields of a map, by name; those that are not known are noted. */
  #fields(node: Node | undefined, at: string, known: readonly string[]): Readonly<Record<string, Node | undefined>> {
    const pairs = this.#pairs(node, at).filter(([name, , key]) => {
      if (known.includes(name)) return true;
      const meant = nearest(name, known);
      const hint = meant === undefined ? `known: ${known.join(', ')}` : `did you mean ${meant}?`;
      this.#note(key, `${at} has no ${name}; ${hint}`);
      return false;
    });
    return Object.fromEntries(pairs);
  }

  #pairs(node: Node | undefined, at: string): readonly (readonly [string, Node | undefined, Node | undefined])[] {
    // A name with nothing below it says nothing.
    if (node === undefined || (isScalar(node) && node.value === null)) return [];
    if (!isMap(node)) {
      this.#note(node, `${at} must be a map`);
      return [];
    }
    return node.items.map(({ key, value }) => [
      textOf(key),
      isNode(value) ? value : undefined,
      isNode(key) ? key : undefined,
    ]);
  }

  #note(at: Node | number | undefined, message: string): void {
    const offset = typeof at === 'number' ? at : (at?.range?.[0] ?? 0);
    this.#mistakes.push({ line: this.#lines.linePos(offset).line, message });
  }
}

/** As it is written: `5` and `"5"` are the same here. */
function textOf(node: unknown): string {
  const value: unknown = isScalar(node) ? node.value : undefined;
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
}
