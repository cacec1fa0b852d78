import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CONFIG_MAPS, TestServer } from '../test-server.ts';
import { fileStorage } from './file.ts';

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'polder-storage-'));
});

afterEach(() => rmSync(directory, { recursive: true }));

const file = () => join(directory, 'cluster.sqlite');

describe('storage in a file', () => {
  it('gives everything back to the next server, versions included', async () => {
    const first = new TestServer({ storage: fileStorage(file()) });
    const kept = await first.configMap('kept', { data: { a: '1' } });
    await first.configMap('gone');
    await first.must('DELETE', `${CONFIG_MAPS}/gone`);
    const { revision } = first.server;
    first.server.close();

    const second = new TestServer({ storage: fileStorage(file()) });
    expect(await second.must('GET', `${CONFIG_MAPS}/kept`)).toEqual(kept);
    expect((await second.call('GET', `${CONFIG_MAPS}/gone`)).status).toBe(404);
    expect(second.server.revision).toBe(revision);
    second.server.close();
  });

  it('ends watches from before a restart with 410, and goes on with those from its last version', async () => {
    const first = new TestServer({ storage: fileStorage(file()) });
    const made = await first.configMap('a');
    await first.configMap('b');
    const { revision } = first.server;
    first.server.close();

    const second = new TestServer({ storage: fileStorage(file()) });
    const old = await second.watch(`${CONFIG_MAPS}?watch=true&resourceVersion=${made.metadata.resourceVersion}`);
    expect(await old.next()).toMatchObject({ type: 'ERROR', object: { code: 410 } });
    const recent = await second.watch(`${CONFIG_MAPS}?watch=true&resourceVersion=${revision}`);
    await second.configMap('c');
    expect(await recent.summary(1)).toEqual(['ADDED c']);
    second.server.close();
  });

  it('is for one server at a time', () => {
    const first = fileStorage(file());
    expect(() => fileStorage(file())).toThrow(`${file()} cannot be used as storage: another server is using it`);
    first.close();
  });

  it('says what is wrong with a file that it cannot use', () => {
    writeFileSync(file(), 'these are notes, and many of them, and no database');
    expect(() => fileStorage(file())).toThrow(`${file()} cannot be used as storage: file is not a database`);
    const nowhere = join(directory, 'nowhere', 'cluster.sqlite');
    expect(() => fileStorage(nowhere)).toThrow(`${nowhere} cannot be used as storage: unable to open database file`);
  });

  it('has every acknowledged write after kill -9', async () => {
    const child = fork(new URL('./writer.fixture.ts', import.meta.url), [file()], {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    const acknowledged = await killedAfter(child, 200);
    const server = new TestServer({ storage: fileStorage(file()) });
    const found = new Set(((await server.must('GET', CONFIG_MAPS)).items ?? []).map(({ metadata }) => metadata.name));
    expect(acknowledged.filter((name) => !found.has(name))).toEqual([]);
    server.server.close();
  });
});

/** The names that the child has reported by the time it died. */
async function killedAfter(child: ChildProcess, count: number): Promise<readonly string[]> {
  const names: string[] = [];
  child.on('message', (name) => {
    if (typeof name === 'string') names.push(name);
    if (names.length === count) child.kill('SIGKILL');
  });
  await once(child, 'exit');
  return names;
}
