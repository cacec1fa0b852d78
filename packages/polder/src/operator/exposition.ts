/** Metrics in the text format of Prometheus, read line by line: what is passed on is passed on as it was written. */
export interface Family {
  readonly name: string;
  /** The lines `# HELP` and `# TYPE`, as far as there are such. */
  readonly head: readonly string[];
  readonly samples: readonly string[];
}

const HEAD = /^# (?:HELP|TYPE) (?<name>[a-zA-Z_:][\w:]*) ./;
const LABELS = String.raw`\{(?:[^"}]|"(?:[^"\\]|\\.)*")*\}`;
const SAMPLE = new RegExp(
  String.raw`^(?<name>[a-zA-Z_:][\w:]*)(?<labels>${LABELS})? +(?<rest>[-+]?[\w.+-]+(?: -?\d+)?)$`,
);
/** What a histogram or a summary adds to the name of its family. */
const SUFFIX = /_(?:bucket|sum|count)$/;

/** The families of a page. What is no line of the format is left out: one bad line would cost the reader the whole page. */
export function familiesIn(text: string): readonly Family[] {
  const families = new Map<string, { name: string; head: string[]; samples: string[] }>();
  const family = (name: string) => {
    const found = families.get(name) ?? { name, head: [], samples: [] };
    families.set(name, found);
    return found;
  };
  for (const line of text.split('\n')) {
    const head = HEAD.exec(line)?.groups?.['name'];
    const sample = SAMPLE.exec(line)?.groups?.['name'];
    if (head !== undefined) family(head).head.push(line);
    else if (sample !== undefined) family(families.has(sample) ? sample : baseOf(sample, families)).samples.push(line);
  }
  return [...families.values()];
}

function baseOf(sample: string, families: ReadonlyMap<string, unknown>): string {
  const base = sample.replace(SUFFIX, '');
  return families.has(base) ? base : sample;
}

/** Something measured right now, by its labels. */
export interface Gauge {
  readonly name: string;
  readonly help: string;
  readonly samples: readonly { readonly labels: Readonly<Record<string, string>>; readonly value: number }[];
}

export function familyOf({ name, help, samples }: Gauge): Family {
  return {
    name,
    head: [`# HELP ${name} ${help}`, `# TYPE ${name} gauge`],
    samples: samples.map(({ labels, value }) => {
      const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text)}"`);
      return `${name}{${pairs.join(',')}} ${value}`;
    }),
  };
}

/** One page of several: each family once, with the head that came first. */
export function pageOf(families: readonly Family[]): string {
  const joined = new Map<string, { head: readonly string[]; samples: string[] }>();
  for (const { name, head, samples } of families) {
    const known = joined.get(name);
    if (known) known.samples.push(...samples);
    else joined.set(name, { head, samples: [...samples] });
  }
  return [...joined.values()].flatMap(({ head, samples }) => [...head, ...samples, '']).join('\n');
}

/** The family with one more label on each of its samples. */
export function labelled({ samples, ...family }: Family, label: string, value: string): Family {
  const pair = `${label}="${escaped(value)}"`;
  return { ...family, samples: samples.map((sample) => withPair(sample, pair)) };
}

function withPair(sample: string, pair: string): string {
  const { name = '', labels = '{}', rest = '' } = SAMPLE.exec(sample)?.groups ?? {};
  const others = labels.slice(1, -1);
  return `${name}{${others === '' ? pair : `${pair},${others}`}} ${rest}`;
}

const escaped = (value: string) => value.replaceAll(/[\\"]/g, '\\$&').replaceAll('\n', '\\n');
