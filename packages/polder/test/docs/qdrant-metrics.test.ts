import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createApiServer } from '@polder/embedded';
import { type Logger, silentLogger, systemClock } from '@polder/kube';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { defaultConfig } from '../../src/operator/config.ts';
import { familiesIn } from '../../src/operator/exposition.ts';
import { runOperator } from '../../src/operator/run.ts';
import { qdrantProduct } from '../../src/qdrant.ts';
import { pageAt } from './page.ts';

const page = pageAt('qdrant-metrics.md');
const nothing = { list: () => [] };

/** What an operator serves that leads nobody: the cluster does not even have its kinds. */
let served: ReturnType<typeof familiesIn>;
const stop = new AbortController();
let done: Promise<void>;
beforeAll(async () => {
  const server = createApiServer();
  const address = { host: '127.0.0.1', port: 0 };
  const port = await new Promise<number>((resolve) => {
    const note = (fields: object, message: string) => {
      if (message.startsWith('serving metrics') && 'port' in fields) resolve(Number(fields.port));
    };
    const log: Logger = { ...silentLogger, info: note, child: () => log };
    done = runOperator(
      {
        products: [qdrantProduct],
        config: defaultConfig([qdrantProduct]),
        namespace: 'default',
        metricsBindAddress: address,
        healthProbeBindAddress: address,
      },
      {
        transport: server.transport(),
        server: 'embedded',
        clock: systemClock,
        env: {},
        log,
        resolve: (one) => one,
        signal: stop.signal,
      },
    );
  });
  served = familiesIn(await (await fetch(`http://127.0.0.1:${port}/metrics`)).text());
});
afterAll(async () => {
  stop.abort(new Error('the test is over'));
  await done;
});

/** A name, its type, its labels and its buckets. */
const seriesIn = (families: typeof served) =>
  families
    .filter(({ name }) => name.startsWith('qdrant_operator_'))
    .map(({ name, head, samples }) => {
      const type = /^# TYPE \S+ (\w+)$/m.exec(head.join('\n'))?.[1] ?? '';
      const labels = new Set(samples.flatMap((one) => [...one.matchAll(/(\w+)="/g)].map(([, label = '']) => label)));
      const buckets = new Set(samples.flatMap((one) => /le="([\d.]+)"/.exec(one)?.[1] ?? []));
      return [name, type, [...labels].filter((label) => label !== 'le').toSorted(), [...buckets]] as const;
    });

const rows = page.text.split('\n').flatMap((line) => {
  const [, name = '', type = '', labels = '', text = ''] =
    /^\| `(qdrant_\w+)` \| (\w+) \| ([^|]*) ?\| (.*) \|$/.exec(line) ?? [];
  const buckets = /buckets ([\d., ]+)/.exec(text)?.[1]?.split(', ') ?? [];
  return name === '' ? [] : [[name, type, (labels.match(/\w+/g) ?? []).toSorted(), buckets] as const];
});

test('the table of metrics has every series of an operator, and no other, with labels and buckets', () => {
  const ofResources = (qdrantProduct.gauges?.(nothing) ?? []).map(({ name }) => name);
  const byName = <R extends readonly [string, ...unknown[]]>(all: readonly R[]) =>
    all.toSorted(([a], [b]) => a.localeCompare(b));
  expect(byName(rows.filter(([name]) => !ofResources.includes(name)))).toEqual(byName(seriesIn(served)));
  expect(rows.map(([name]) => name)).toEqual(expect.arrayContaining(ofResources));
});

test('every series is there at zero before anything has happened, on one that does not lead', () => {
  const samples = served.filter(({ name }) => name.startsWith('qdrant_operator_')).flatMap((one) => one.samples);
  // Its kinds are not installed, which is an error.
  const calm = samples.filter((one) => !/type="api_read"|watch_(?:restarts|active)/.test(one));
  expect(calm.filter((one) => !one.endsWith(' 0'))).toEqual([]);
  expect(served.map(({ name }) => name)).toContain('process_cpu_seconds_total');
});

test('the table of errors has every type, and no other', () => {
  const types = served.find(({ name }) => name === 'qdrant_operator_errors_total')?.samples ?? [];
  const table = page.text.split('| type of error |')[1]?.split('\n\n')[0] ?? '';
  expect([...table.matchAll(/^\| `(\w+)`/gm)].map(([, type]) => type)).toEqual(
    types.map((one) => /type="(\w+)"/.exec(one)?.[1]),
  );
});

test('every webhook is there, and no other', () => {
  const paths = [...page.text.matchAll(/^\| `(\/validate\S+)`/gm)].map(([, path]) => path);
  expect(paths).toEqual(qdrantProduct.webhooks?.(nothing).map(({ path }) => path));
});

test('every event is one that the code can tell', () => {
  const table = page.text.split('| reason |')[1]?.split('\n\n')[0] ?? '';
  const reasons = [...table.matchAll(/^\| ([^|]+) \| (?:Normal|Warning)/gm)].flatMap(([, names = '']) =>
    [...names.matchAll(/`(\w+)`/g)].map(([, name = '']) => name),
  );
  const sources = ['../../../qdrant/src', '../../../kube/src/controller'].map(textOf).join('\n');
  expect(reasons.length).toBeGreaterThan(20);
  expect(reasons.filter((reason) => !sources.includes(`'${reason}'`))).toEqual([]);
  const [, done = ''] = /const DONE: Readonly<Partial[^{]*\{([^}]*)\}/.exec(sources) ?? [];
  const told = [...done.matchAll(/: '(\w+)'/g), ...sources.matchAll(/(?:begun|finished): \{ reason: '(\w+)'/g)];
  expect(told.map(([, reason]) => reason).filter((reason) => !reasons.includes(reason ?? ''))).toEqual([]);
});

function textOf(folder: string): string {
  const path = join(import.meta.dirname, folder);
  const files = readdirSync(path, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  return files.map((file) => readFileSync(join(path, file), 'utf8')).join('\n');
}
