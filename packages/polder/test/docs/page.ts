/** A page of the guide as its tests read it: fenced blocks, and tables of fields. */
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

export interface Page {
  /** From the folder `docs` on: `transformations/mask.md`. */
  readonly path: string;
  /** `mask` */
  readonly name: string;
  readonly text: string;
  readonly fences: readonly Fence[];
  readonly fields: readonly FieldRow[];
}

/** A block between fences. Its first line is a language, and maybe what the block is for: `json input`. */
export interface Fence {
  readonly language: string;
  readonly role: string;
  readonly line: number;
  readonly text: string;
}

/** A row of a table whose first column is called `field`. */
export interface FieldRow {
  /** The text of the heading above. */
  readonly section: string;
  /** Several: a field and the one that refers to a Secret for it. */
  readonly names: readonly string[];
  readonly default: string;
}

export const DOCS = join(import.meta.dirname, '../../../../docs');

/** The pages of a folder of `docs`, its README included. */
export const pagesIn = (folder: string): readonly Page[] =>
  readdirSync(join(DOCS, folder))
    .filter((file) => file.endsWith('.md'))
    .toSorted()
    .map((file) => pageAt(join(folder, file)));

export function pageAt(path: string): Page {
  const text = readFileSync(join(DOCS, path), 'utf8');
  const fences: Fence[] = [];
  const fields: FieldRow[] = [];
  let open: { readonly info: string; readonly line: number; readonly lines: string[] } | undefined;
  let section = '';
  let isFields = false;
  for (const [at, line] of text.split('\n').entries()) {
    if (open !== undefined) {
      if (line !== '```') {
        open.lines.push(line);
        continue;
      }
      const [language = '', role = ''] = open.info.split(' ');
      fences.push({ language, role, line: open.line, text: open.lines.join('\n') });
      open = undefined;
    } else if (line.startsWith('```')) {
      open = { info: line.slice(3), line: at + 1, lines: [] };
    } else if (line.startsWith('#')) {
      section = line.replace(/^#+ /, '');
    } else if (line.startsWith('|')) {
      const [first = '', , fallback = ''] = cellsOf(line);
      if (first === 'field') isFields = true;
      else if (isFields && !first.startsWith('---')) {
        fields.push({
          section,
          names: [...first.matchAll(/`([^`]+)`/g)].map(([, one = '']) => one),
          default: fallback,
        });
      }
    } else isFields = false;
  }
  return { path, name: basename(path, '.md'), text, fences, fields };
}

/** A bar in a cell has a backslash in front. */
const cellsOf = (line: string): readonly string[] =>
  line
    .split(/(?<!\\)\|/)
    .slice(1, -1)
    .map((cell) => cell.trim());
