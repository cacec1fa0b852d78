import { applyAll, compileTransforms, errorRecord, Payload, PipelineMetrics, type Registry } from '@polder/engine';
import { systemClock } from '@polder/kube';
import { expect, test } from 'vitest';
import { program } from '../../src/program.ts';
import { flowWith, problemsOf } from './examples.ts';
import { pageAt } from './page.ts';

const page = pageAt('processor.md');

class Defined implements Registry {
  readonly series = new Map<string, string>();

  counter = this.#define('counter', { inc() {} });
  gauge = this.#define('gauge', { set() {} });
  histogram = this.#define('histogram', { observe() {} });

  #define<T>(type: string, child: T) {
    return ({ name, labelNames }: Parameters<Registry['counter']>[0]) => {
      const [, , ...more] = labelNames;
      this.series.set(name, [type, ...more].join());
      return { labels: () => child };
    };
  }
}

test('the table of metrics has every series there is, and no other, with its labels', () => {
  const registry = new Defined();
  void new PipelineMetrics({
    registry,
    labels: { namespace: '', name: '' },
    sourceType: '',
    sinkType: '',
    routeTypes: new Map(),
    transformations: [],
    clock: systemClock,
  });
  const rows = page.text.split('\n').flatMap((line) => {
    const [, name, type, labels = ''] = /^\| `(dataflow_\w+)` \| (\w+) \| ([^|]*)\|/.exec(line) ?? [];
    return name === undefined ? [] : [[name, [type, ...(labels.match(/\w+/g) ?? [])].join()] as const];
  });
  expect(new Map(rows)).toEqual(registry.series);
  expect(rows).toHaveLength(registry.series.size);
});

const fenceWith = (text: string) => page.fences.find((fence) => fence.text.includes(text))?.text ?? '';

test('the record of the error sink looks as it is shown', () => {
  const now = Date.parse('2026-03-01T12:00:00.120Z');
  const chain = compileTransforms([{ type: 'cast', config: { spec: { qty: 'int64' } } }], { now: () => now });
  const { failures } = applyAll(chain, {
    payload: Payload.ofText('{"qty":"three"}'),
    metadata: { topic: 'orders', partition: 3, offset: 42 },
    origin: { partition: 'orders/3', sequence: 0, position: 42, readAt: now },
  });
  const [record] = failures.map((failure) => errorRecord(failure, 'postgresql', now));
  const { metadata, payload } = record ?? {};
  expect(payload?.text).toBe(JSON.stringify(JSON.parse(fenceWith('original_message'))));
  const added = ['error', 'error_timestamp', 'original_sink', 'is_error_message'];
  expect(Object.keys(metadata ?? {})).toEqual(['topic', 'partition', 'offset', ...added]);
});

test('there is nothing to say against the error sink that is shown', async () => {
  expect(await problemsOf(flowWith(fenceWith('ackPolicy:')))).toEqual([]);
});

test('every flag is there, and no other', () => {
  const command = program(process).commands.find((one) => one.name() === 'processor');
  const rows = page.text.split('\n').filter((line) => line.startsWith('| `--'));
  const named = rows.flatMap((row) => row.split('|')[1]?.match(/--[a-z-]+/g) ?? []);
  expect(named.toSorted()).toEqual(command?.options.map(({ long }) => long).toSorted());
});
