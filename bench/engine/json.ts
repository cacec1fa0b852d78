/**
 * What JSON and transformations cost, without a broker: `node bench/engine/json.ts`. Prints the CPU time for each document
 * of about 1 KB, the best of several rounds, since whatever else runs on the machine only adds to it.
 */
import { type Message, Payload } from '@polder/engine';
import { parseJson, printJson } from '@polder/engine/json';
import { applyAll, compileTransforms } from '@polder/engine/transforms';
import { MASKED, orderOf, PAID, SELECTED, STAMP } from './order.ts';

const ROUNDS = 30;
const DOCUMENTS = 4000;

const text = JSON.stringify(orderOf(123_456));
const ordinary = Buffer.from(text);
/** The same with one number that must be kept as it is spelled: it takes the exact way. */
const exact = Buffer.from(text.replace(/"total":[\d.]+/, '"total":759.50'));

const clock = { now: () => Date.UTC(2026, 2, 1) };
const chain = compileTransforms(
  [
    { type: 'filter', config: { condition: `status == '${PAID}'` } },
    { type: 'mask', config: { fields: MASKED } },
    { type: 'select', config: { fields: SELECTED } },
    { type: 'timestamp', config: { fieldName: STAMP } },
  ],
  clock,
);

const messageOf = (bytes: Buffer): Message => ({
  payload: Payload.ofBytes(bytes),
  metadata: {},
  origin: { partition: '0', sequence: 0, position: 0, readAt: 0 },
});

function transform(bytes: Buffer): number {
  let written = 0;
  for (const { payload } of applyAll(chain, messageOf(bytes)).outputs) written += payload?.bytes.length ?? 0;
  return written;
}

const cases: Readonly<Record<string, () => unknown>> = {
  'JSON.parse + JSON.stringify (the floor)': () => JSON.stringify(JSON.parse(ordinary.toString('utf8'))),
  'parse + print': () => printJson(parseJson(ordinary.toString('utf8')) ?? null),
  'parse + print, exact': () => printJson(parseJson(exact.toString('utf8')) ?? null),
  'filter + mask + select + timestamp': () => transform(ordinary),
  'filter + mask + select + timestamp, exact': () => transform(exact),
};

function microseconds(work: () => unknown): number {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS; round += 1) {
    const start = process.cpuUsage();
    for (let count = 0; count < DOCUMENTS; count += 1) work();
    const { user, system } = process.cpuUsage(start);
    best = Math.min(best, (user + system) / DOCUMENTS);
  }
  return best;
}

console.log(`| ${ordinary.length} bytes | CPU µs each |\n| --- | ---: |`);
for (const [name, work] of Object.entries(cases)) console.log(`| ${name} | ${microseconds(work).toFixed(1)} |`);
