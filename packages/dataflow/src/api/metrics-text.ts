/** One line of a page of metrics. */
export interface Sample {
  readonly name: string;
  readonly labels: ReadonlyMap<string, string>;
  readonly value: number;
}

const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})?\s+(\S+)/;
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g;
const ESCAPED: Readonly<Record<string, string>> = { n: '\n', '"': '"', '\\': '\\' };

/**
 * Reads the text format of Prometheus, as far as it is about these names: a page has a hundred lines, and pages are read by the
 * thousand. Comments, empty lines and what is no number are passed over.
 */
export function samplesIn(text: string, names: readonly string[]): readonly Sample[] {
  const lines = text.split('\n').filter((line) => names.some((name) => line.startsWith(name)));
  return lines.flatMap((line) => {
    const [, name, labels = '', number] = LINE.exec(line) ?? [];
    const value = Number(number);
    return name === undefined || !names.includes(name) || Number.isNaN(value)
      ? []
      : [{ name, labels: labelsIn(labels), value }];
  });
}

function labelsIn(text: string): ReadonlyMap<string, string> {
  const pairs = [...text.matchAll(LABEL)].map(([, name = '', value = '']): [string, string] => [
    name,
    value.replaceAll(/\\(.)/g, (whole, letter: string) => ESCAPED[letter] ?? whole),
  ]);
  return new Map(pairs);
}
