/** Finds the Java that a server demands: the default one of a machine is often older than Trino and Nessie run on. */
import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Where the distributions of Linux keep their Javas, one folder each. */
const JVM_FOLDER = '/usr/lib/jvm';

export interface Places {
  readonly jvmFolder: string;
  readonly javaHome: string | undefined;
}

/**
 * The `java` of major version `major`: what JAVA_HOME names, else the first under the JVM folder. Each is asked for its
 * version: the names of the folders follow no rule. Rejects if there is none, saying what was found instead.
 */
export async function findJava(
  major: number,
  { jvmFolder, javaHome }: Places = { jvmFolder: JVM_FOLDER, javaHome: process.env['JAVA_HOME'] },
): Promise<string> {
  const homes = [...(javaHome ? [javaHome] : []), ...foldersOf(jvmFolder)];
  const found: string[] = [];
  for (const home of homes) {
    const java = join(home, 'bin', 'java');
    const version = await versionOf(java);
    if (version === undefined) continue;
    if (majorOf(version) === major) return java;
    found.push(`${java} is ${version}`);
  }
  const instead = found.length > 0 ? found.join(', ') : `there is no Java under ${jvmFolder}`;
  throw new Error(
    `This server runs on a JDK ${major}, and none was found (${instead}). Install one, or name it in JAVA_HOME.`,
  );
}

function foldersOf(jvmFolder: string): string[] {
  try {
    return readdirSync(jvmFolder)
      .toSorted()
      .map((name) => join(jvmFolder, name));
  } catch {
    return [];
  }
}

async function versionOf(java: string): Promise<string | undefined> {
  try {
    // It says so on the error stream, as `openjdk version "25.0.3" 2026-04-21 LTS`.
    const { stderr } = await run(java, ['-version']);
    return /version "([^"]+)"/.exec(stderr)?.[1];
  } catch {
    return undefined;
  }
}

function majorOf(version: string): number {
  return Number(/^\d+/.exec(version)?.[0]);
}
