/** Commits on a real Nessie: branches, lineage, several writers, partitions. */
import { beforeEach, expect, inject, test } from 'vitest';
import {
  connectedSink,
  memoryCheckpoints,
  memoryLog,
  message,
  readAll,
  sinkConfig,
  sourceConfig,
  textsOf,
} from '../../../test/nessie/fixture.ts';
import { judge } from '../../../test/nessie/pyiceberg.ts';

const place = inject('nessie');
const pyiceberg = judge(place);
let signal: AbortSignal;
beforeEach(() => {
  signal = AbortSignal.timeout(170_000);
});

const idsIn = (texts: readonly string[]) =>
  texts.map((text) => Number(/"id":(\d+)/.exec(text)?.[1])).toSorted((a, b) => a - b);
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => from + at);

test('of two writers at once every commit survives', async () => {
  const config = sinkConfig(place, { namespace: 'commits', table: 'both', autoCreateTable: true });
  const [one, other] = [await connectedSink(config, signal), await connectedSink(config, signal)];
  await Promise.all(
    [one, other].map(async (sink, which) => {
      for (const batch of range(0, 7)) {
        const ids = range(1, 3).map((row) => which * 1_000 + batch * 10 + row);
        expect(
          await sink.write(
            ids.map((id) => message({ id })),
            signal,
          ),
        ).toEqual([]);
      }
    }),
  );
  const expected = [0, 1].flatMap((which) =>
    range(0, 7).flatMap((batch) => range(1, 3).map((row) => which * 1_000 + batch * 10 + row)),
  );
  expect(await pyiceberg.rows('commits.both')).toEqual(expected.map((id) => ({ id })));
  // One snapshot for each batch, each with all that was there before.
  const source = sourceConfig(place, { namespace: 'commits', table: 'both' });
  expect((await readAll(source, signal)).at(-1)?.metadata['snapshot_sequence']).toBe(16);
});

test('what snapshots add is read once, whoever added it; a deletion is refused', async () => {
  await pyiceberg.run(`
catalog.create_namespace_if_not_exists("lineage")
table = catalog.create_table("lineage.t", pa.schema([("id", pa.int64())]))
table.append(pa.table({"id": [1, 2]}))
table.append(pa.table({"id": [3]}))
answer(None)`);
  const where = { namespace: 'lineage', table: 't' };
  const config = sourceConfig(place, { ...where, incrementalBySnapshot: true });
  const checkpoints = memoryCheckpoints();
  const read = async () => idsIn(textsOf(await readAll(config, signal, { checkpoints })));
  expect(await read()).toEqual([1, 2, 3]);
  const sink = await connectedSink(sinkConfig(place, where), signal);
  for (const id of [4, 5]) await sink.write([message({ id })], signal);
  await pyiceberg.run(`
table = catalog.load_table("lineage.t")
table.append(pa.table({"id": [6]}))
with table.update_schema() as update:
    update.add_column("note", __import__("pyiceberg.types").types.StringType())
answer(None)`);
  expect(await read()).toEqual([4, 5, 6]);
  expect(await read()).toEqual([]);
  await pyiceberg.run('catalog.load_table("lineage.t").delete("id == 1")\nanswer(None)');
  await expect(read()).rejects.toThrow(/is of the operation (delete|overwrite): it changed or deleted rows/);
  const whole = await readAll(sourceConfig(place, where), signal);
  expect(idsIn(textsOf(whole))).toEqual([2, 3, 4, 5, 6]);
});

test('a branch has its own state of the table, and once merged its rows are read in the other', async () => {
  const where = { namespace: 'branches', table: 't' };
  const main = await connectedSink(sinkConfig(place, { ...where, autoCreateTable: true }), signal);
  await main.write([message({ id: 1 })], signal);
  const config = sourceConfig(place, { ...where, incrementalBySnapshot: true });
  const checkpoints = memoryCheckpoints();
  const read = async () => idsIn(textsOf(await readAll(config, signal, { checkpoints })));
  expect(await read()).toEqual([1]);

  const trees = `${place.baseURL}/api/v2/trees`;
  const nessie = async (path: string, body?: unknown) => {
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(
      trees + path,
      body === undefined ? {} : { method: 'POST', headers, body: JSON.stringify(body) },
    );
    const json: { reference: { hash: string } } = JSON.parse(await answer.text());
    expect([path, answer.status]).toEqual([path, 200]);
    return json;
  };
  const { reference } = await nessie('/main');
  await nessie('?name=team%2Fdev&type=BRANCH', reference);
  const dev = await connectedSink(sinkConfig(place, { ...where, branch: 'team/dev', warehouse: 'warehouse' }), signal);
  for (const id of [2, 3, 4]) await dev.write([message({ id })], signal);
  expect(await read()).toEqual([]);
  expect(await judge(place, 'team/dev').rows('branches.t')).toEqual([1, 2, 3, 4].map((id) => ({ id })));

  const from = (await nessie('/team%2Fdev')).reference.hash;
  const into = (await nessie('/main')).reference.hash;
  await nessie(`/main@${into}/history/merge`, { fromRefName: 'team/dev', fromHash: from });
  await main.write([message({ id: 5 })], signal);
  expect(await read()).toEqual([2, 3, 4, 5]);
});

test('a missing branch and a missing warehouse are named', async () => {
  const config = sinkConfig(place, { branch: 'nowhere', autoCreateTable: true });
  await expect(connectedSink(config, signal)).rejects.toThrow("Named reference 'nowhere' not found");
  const other = sinkConfig(place, { warehouse: 'nowhere', namespace: 'branches', table: 't' });
  await expect(connectedSink(other, signal)).rejects.toThrow("Warehouse 'nowhere' is not known");
});

test('partitions and bounds lead another engine to the right rows', async () => {
  await pyiceberg.run(`
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import *
from pyiceberg.types import *
schema = Schema(
    NestedField(1, "id", LongType()), NestedField(2, "at", TimestamptzType()), NestedField(3, "name", StringType()),
    NestedField(4, "price", DecimalType(9, 2)), NestedField(5, "day", DateType()), NestedField(6, "token", UUIDType()))
spec = PartitionSpec(
    PartitionField(1, 1000, BucketTransform(3), "id_bucket"), PartitionField(2, 1001, DayTransform(), "at_day"),
    PartitionField(3, 1002, TruncateTransform(2), "name_trunc"), PartitionField(4, 1003, IdentityTransform(), "price"),
    PartitionField(5, 1004, MonthTransform(), "day_month"), PartitionField(6, 1005, BucketTransform(2), "token_bucket"))
catalog.create_namespace_if_not_exists("partitions")
catalog.create_table("partitions.t", schema, partition_spec=spec)
answer(None)`);
  const sink = await connectedSink(sinkConfig(place, { namespace: 'partitions', table: 't' }), signal);
  const row = (id: number) => ({
    id,
    at: `20${10 + (id % 5)}-0${1 + (id % 3)}-01T0${id % 10}:00:00Z`,
    name: ['äpfel', 'birne', '😀 lacht', '\uffffz', null][id % 5],
    price: id % 4 === 0 ? null : id % 7,
    day: `19${60 + (id % 20)}-12-31`,
    token: `f79c3e09-677c-4bbd-a479-3f349cb785e${id % 10}`,
  });
  expect(
    await sink.write(
      range(1, 40).map((id) => message(row(id))),
      signal,
    ),
  ).toEqual([]);
  const filters = [
    'id == 17',
    'id > 38',
    "at >= '2013-01-01T00:00:00+00:00'",
    "name == 'äpfel'",
    "name >= '😀'",
    "name like 'bi%'",
    'name is null',
    'price == 3',
    'price is null',
    "day < '1970-01-01'",
  ];
  // What the filter leaves, once by way of partitions and bounds, once by looking at every row.
  const counted = await pyiceberg.run(
    `
from pyiceberg.io.pyarrow import expression_to_pyarrow
from pyiceberg.expressions.parser import parse
from pyiceberg.expressions.visitors import bind
table = catalog.load_table("partitions.t")
everything = table.scan().to_arrow()
def both(text):
    pruned = table.scan(row_filter=text).to_arrow().num_rows
    return [text, pruned, everything.filter(expression_to_pyarrow(bind(table.schema(), parse(text), True))).num_rows]
answer([both(text) for text in given["input"]])`,
    filters,
  );
  const found: [string, number, number][] = Array.isArray(counted) ? counted : [];
  expect(found.map(([text]) => text)).toEqual(filters);
  for (const [text, pruned, all] of found) {
    expect([text, pruned]).toEqual([text, all]);
    expect([text, all > 0]).toEqual([text, true]);
  }
  const messages = await readAll(sourceConfig(place, { namespace: 'partitions', table: 't' }), signal);
  expect(idsIn(textsOf(messages))).toEqual(range(1, 40));
});

test('metadata of Nessie grows with columns that messages bring, and older rows have none of them', async () => {
  const config = sinkConfig(place, { namespace: 'commits', table: 'grown', autoCreateTable: true });
  const sink = await connectedSink(config, signal, memoryLog());
  await sink.write([message({ id: 1 })], signal);
  await sink.write([message({ id: 2, name: 'two', price: 1.25 })], signal);
  expect(await pyiceberg.rows('commits.grown')).toEqual([
    { id: 1, name: null, price: null },
    { id: 2, name: 'two', price: '1.250000000000000000' },
  ]);
});
