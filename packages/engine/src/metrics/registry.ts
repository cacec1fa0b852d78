import type { Definition, Labels, Registry } from '../pipeline/index.ts';

/**
 * Counts, and prints what it counted in the text format of Prometheus. Its own, because a dozen series are touched by every
 * message: here that is an addition each, where the usual library builds a key of all labels each time.
 */
export class MetricsRegistry implements Registry {
  readonly #families: Family[] = [];

  counter(definition: Definition) {
    const series = this.#family('counter', definition, () => new Value());
    return { labels: (labels: Labels) => series(labels) };
  }

  gauge(definition: Definition) {
    const series = this.#family('gauge', definition, () => new Value());
    return { labels: (labels: Labels) => series(labels) };
  }

  histogram(definition: Definition & { readonly buckets: readonly number[] }) {
    const series = this.#family('histogram', definition, () => new Distribution(definition.buckets));
    return { labels: (labels: Labels) => series(labels) };
  }

  text(): string {
    return this.#families.map(printed).join('');
  }

  /** The same labels are the same series. */
  #family<S extends Series>(type: Family['type'], { name, help, labelNames }: Definition, make: () => S) {
    const series = new Map<string, S>();
    this.#families.push({ type, name, help, series });
    return (labels: Labels): S => {
      const key = labelNames.map((label) => `${label}="${escaped(labels[label] ?? '')}"`).join(',');
      const known = series.get(key) ?? make();
      series.set(key, known);
      return known;
    };
  }
}

interface Family {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly name: string;
  readonly help: string;
  /** By their labels, as they are printed. */
  readonly series: ReadonlyMap<string, Series>;
}

interface Series {
  /** Lines of `name suffix{labels} value`, as suffix, further label and value. */
  samples(): Iterable<readonly [suffix: string, label: string, value: number]>;
}

class Value implements Series {
  #value = 0;

  inc(by = 1): void {
    this.#value += by;
  }

  set(value: number): void {
    this.#value = value;
  }

  *samples() {
    yield ['', '', this.#value] as const;
  }
}

class Distribution implements Series {
  readonly #bounds: readonly number[];
  /** What is above the last bound is in the entry behind it. */
  readonly #counts: Float64Array;
  #sum = 0;

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = new Float64Array(bounds.length + 1);
  }

  observe(value: number): void {
    const bounds = this.#bounds;
    let bucket = 0;
    while (bucket < bounds.length && value > (bounds[bucket] ?? 0)) bucket++;
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    this.#sum += value;
  }

  *samples() {
    let count = 0;
    for (const [bucket, inside] of this.#counts.entries()) {
      count += inside;
      yield ['_bucket', `le="${this.#bounds[bucket] ?? '+Inf'}"`, count] as const;
    }
    yield ['_sum', '', this.#sum] as const;
    yield ['_count', '', count] as const;
  }
}

function printed({ type, name, help, series }: Family): string {
  const lines = [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`];
  for (const [labels, one] of series) {
    for (const [suffix, label, value] of one.samples()) {
      const all = [labels, label].filter((text) => text !== '').join(',');
      lines.push(`${name}${suffix}${all && `{${all}}`} ${value}`);
    }
  }
  return `${lines.join('\n')}\n`;
}

/** Conditions of routes are labels, and may hold quotes. */
const escaped = (text: string) => text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
