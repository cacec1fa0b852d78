import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { findJava } from './find.ts';

const folder = mkdtempSync(join(tmpdir(), 'polder-jdk-'));
const jvmFolder = join(folder, 'jvm');
afterAll(() => rmSync(folder, { recursive: true }));

/** A program that answers `-version` as Java does; gives its home. */
function javaOf(home: string, version: string): string {
  const java = join(folder, home, 'bin', 'java');
  mkdirSync(join(java, '..'), { recursive: true });
  writeFileSync(java, `#!/bin/sh\necho 'openjdk version "${version}" 2026-04-21 LTS' >&2\n`);
  chmodSync(java, 0o755);
  return join(folder, home);
}

const older = javaOf('jvm/called-25', '17.0.15');
const newer = javaOf('jvm/temurin', '25.0.3');
mkdirSync(join(jvmFolder, 'without-a-java'));

test('a JDK is found by what it says of itself, whatever its folder is called', async () => {
  expect(await findJava(25, { jvmFolder, javaHome: undefined })).toBe(join(newer, 'bin/java'));
});

test('JAVA_HOME comes first where it has the version', async () => {
  const javaHome = javaOf('elsewhere', '25');
  expect(await findJava(25, { jvmFolder, javaHome })).toBe(join(javaHome, 'bin/java'));
  expect(await findJava(17, { jvmFolder, javaHome })).toBe(join(older, 'bin/java'));
});

test('a missing JDK is told with what was found instead', async () => {
  await expect(findJava(21, { jvmFolder, javaHome: undefined })).rejects.toThrow(
    /runs on a JDK 21, and none was found \(.*is 17\.0\.15, .*is 25\.0\.3\)\. Install one, or name it in JAVA_HOME\./,
  );
  const nowhere = { jvmFolder: join(folder, 'nowhere'), javaHome: undefined };
  await expect(findJava(21, nowhere)).rejects.toThrow('there is no Java under');
});
