import type { Figure } from './figure.ts';

export interface Row {
  readonly what: string;
  readonly unit: string;
  /** Digits after the point. */
  readonly digits: number;
  readonly better: 'less' | 'more';
  readonly target?: number | undefined;
  /** One for each column. */
  readonly figures: readonly Figure[];
}

/** A Markdown table. The first column is ours; beside every other number stands how much worse (above 1) it is than ours. */
export function tableOf(columns: readonly string[], rows: readonly Row[]): string {
  const lines = [
    ['what', ...columns, 'target'],
    ['---', ...columns.map(() => '---:'), '---:'],
    ...rows.map((row) => [
      row.unit === '' ? row.what : `${row.what}, ${row.unit}`,
      ...row.figures.map((figure, at) => cell(row, figure, at === 0 ? undefined : row.figures[0])),
      row.target === undefined ? '' : `${row.better === 'less' ? '<=' : '>='} ${row.target}`,
    ]),
  ];
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function cell(row: Row, figure: Figure, ours: Figure | undefined): string {
  if (typeof figure !== 'number') return figure.missing;
  const text = figure.toFixed(row.digits);
  const ratio = ratioOf(row.better, figure, ours);
  return ratio === undefined ? text : `${text} (${ratio.toFixed(ratio < 10 ? 1 : 0)}x)`;
}

/** How many times worse than ours; below 1 the other is better. */
function ratioOf(better: Row['better'], figure: number, ours: Figure | undefined): number | undefined {
  if (typeof ours !== 'number' || ours === 0 || figure === 0) return undefined;
  return better === 'less' ? figure / ours : ours / figure;
}

/** Which targets our column misses. */
export function missed(rows: readonly Row[]): Row[] {
  return rows.filter(({ figures: [ours], target, better }) => {
    if (target === undefined || ours === undefined) return false;
    if (typeof ours !== 'number') return true;
    return better === 'less' ? ours > target : ours < target;
  });
}
