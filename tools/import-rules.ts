/**
 * Which room may import which: the arrows of docs/architecture.md, as data. A file that imports upwards or sideways is an
 * error; so is reaching into another package past its public faces (`@polder/kube`, `@polder/kube/<folder>`).
 */
import { readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  'packages/kube': [],
  'packages/s3': [],
  'packages/engine': ['packages/s3'],
  'packages/doubles': [],
  'packages/embedded': ['packages/kube'],
  'packages/dataflow': ['packages/kube', 'packages/engine', 'packages/s3'],
  'packages/qdrant': ['packages/kube', 'packages/s3'],
  'packages/opensearch': ['packages/kube', 'packages/s3'],
  'packages/adx': ['packages/kube', 'packages/s3'],
  'packages/console': ['packages/kube'],
  'packages/polder': ['packages/*'],
  examples: ['packages/*'],
  bench: ['packages/*'],
  tools: ['packages/*'],
};

/**
 * Suites may use the embedded server, the client and the clocks it is used with, and the tools, whatever they test: a test is
 * no part of the house.
 */
const TESTS_MAY_ALSO_IMPORT = ['packages/embedded', 'packages/kube', 'packages/doubles', 'tools'];

const IMPORT =
  /(?:^|\n)\s*(?:import|export)\b[^'";]*?from\s*'([^']+)'|(?:^|\n)\s*import\s*'([^']+)'|\bimport\('([^']+)'\)/g;

export interface Violation {
  readonly file: string;
  readonly imports: string;
  readonly because: string;
}

/** Pure: the violations of one file. `file` is relative to the root of the repository. */
export function violationsIn(file: string, source: string): Violation[] {
  const room = roomOf(file);
  const violations: Violation[] = [];
  for (const match of source.matchAll(IMPORT)) {
    const imports = match[1] ?? match[2] ?? match[3] ?? '';
    const because = objection(file, room, imports);
    if (because !== undefined) violations.push({ file, imports, because });
  }
  return violations;
}

function objection(file: string, room: string, imports: string): string | undefined {
  if (imports.startsWith('.')) {
    const target = roomOf(normalize(join(dirname(file), imports)));
    if (target === room || (target === 'tools' && (isTest(file) || room === 'bench'))) return undefined;
    return `a relative path leaves ${room}; import ${target} by its package name`;
  }
  if (!imports.startsWith('@polder/')) return undefined;
  const [, name = '', ...rest] = imports.split('/');
  const target = `packages/${name}`;
  if (rest.length > 1) return `only @polder/${name} and @polder/${name}/<folder> are public`;
  if (target === room) return 'a package imports its own files by relative path';
  const allowed = [...(MAY_IMPORT[room] ?? []), ...(isTest(file) ? TESTS_MAY_ALSO_IMPORT : [])];
  if (allowed.includes(target) || allowed.includes('packages/*')) return undefined;
  return `${room} may import ${MAY_IMPORT[room]?.join(', ') || 'nothing of ours'}`;
}

function roomOf(file: string): string {
  const [first = '', second = ''] = file.split('/');
  return first === 'packages' ? `packages/${second}` : first;
}

const isTest = (file: string) => file.endsWith('.test.ts') || /^packages\/[^/]+\/test\//.test(file);

export function violationsAmong(files: readonly string[]): Violation[] {
  return files.flatMap((file) => violationsIn(file, readFileSync(file, 'utf8')));
}
