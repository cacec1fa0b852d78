import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';

/** What is run: a program with its arguments, where, and with which variables. */
export interface Program {
  readonly words: readonly string[];
  readonly directory: string;
  readonly env: ReadonlyMap<string, string>;
}

/** Why a program can't be run, in the words of container runtimes; undefined if it can. */
export async function problemWith({ words, directory, env }: Program): Promise<string | undefined> {
  const [name = ''] = words;
  if (words.some(hasNul)) return 'a word of the command contains a NUL character';
  for (const [variable, value] of env) {
    // Not the value: it may be a secret.
    if (hasNul(variable + value)) return `the variable ${JSON.stringify(variable)} contains a NUL character`;
  }
  const problem = await lookUp(name, directory, env.get('PATH') ?? '');
  return problem && `exec: ${JSON.stringify(name)}: ${problem}`;
}

const hasNul = (text: string) => text.includes('\0');

async function lookUp(name: string, directory: string, path: string): Promise<string | undefined> {
  // `env` would take it for a variable; see `launcher`.
  if (name.includes('=')) return "a program whose name contains = can't be run as a process";
  if (name.includes('/')) return problemAt(resolve(directory, name), name);
  for (const folder of path.split(':')) {
    if ((await problemAt(join(resolve(directory, folder), name), name)) === undefined) return undefined;
  }
  return 'executable file not found in $PATH';
}

async function problemAt(file: string, name: string): Promise<string | undefined> {
  try {
    if ((await stat(file)).isDirectory()) return 'is a directory';
  } catch {
    return `stat ${name}: no such file or directory`;
  }
  return access(file, constants.X_OK).then(
    () => undefined,
    () => 'permission denied',
  );
}

/** Registers its process group with whoever reads descriptor 3, and becomes what it is given. */
const REGISTERED = 'echo "+$$" >&3 && exec 3>&- && exec "$@"';

/** Names that shells keep for themselves, or change, or add; and those that would change how the shell itself is loaded. */
const OF_SHELLS =
  /^(_|ENV|IFS|PWD|OLDPWD|PPID|E?UID|GROUPS|OPT(ARG|IND)|PS[0-9]|SHLVL|LINENO|RANDOM|SECONDS|SHELLOPTS|BASH.*|(LD|DYLD)_.*)$/;
const PLAIN = /^[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * The command line that starts a program in a registered process group, and the variables for that. The shell in
 * between must not change the variables of the program: some shells drop names that they can't use, and all set a few. So
 * `env` takes those away again and puts in those that a shell would not let through. (While `env` runs, for less than a
 * millisecond, other users of the machine can see these few. The rest they can't.)
 */
export function launcher({ words, env }: Program, joinsOutputs: boolean) {
  const isCarried = (name: string) => PLAIN.test(name) && !OF_SHELLS.test(name);
  const carried = [...env].filter(([name]) => isCarried(name));
  const others = [...env].filter(([name]) => !isCarried(name)).map(([name, value]) => `${name}=${value}`);
  const added = ['_', 'PWD', 'OLDPWD', 'SHLVL'].flatMap((name) => ['-u', name]);
  const script = joinsOutputs ? `${REGISTERED} 2>&1` : REGISTERED;
  return {
    file: '/bin/sh',
    args: ['-c', script, 'sh', '/usr/bin/env', ...added, ...others, ...words],
    env: Object.fromEntries(carried),
  };
}
