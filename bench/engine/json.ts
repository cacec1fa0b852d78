/**
 * What JSON and transformations cost, without a broker: `node bench/engine/json.ts`. Prints the CPU time for each document
 * of about 1 KB, the best of several rounds, since whatever else runs on the machine only adds to it.
 */
import { type Message, Payload } from '@polder/engine';
import { parseJson, printJson } from '@polder/engine/json';
import { applyAll, compileTransforms } from '@polder/engine/transforms';

const ROUNDS = 30;
const DOCUMENTS = 4000;

const ORDER = {
  id: 123456,
  orderId: 'ord-00012345',
  active: true,
  status: 'paid',
  created: '2026-03-01T08:30:00.120Z',
  customer: {
    name: 'Jane Doe',
    email: 'jane.doe@example.com',
    phone: '+31 20 123 4567',
    address: { street: 'Keizersgracht 123', city: 'Amsterdam', zip: '1015 CJ', country: 'NL' },
  },
  card: '4111111111111111',
  items: [
    { sku: 'SKU-001', quantity: 2, price: 19.99, title: 'A small thing' },
    { sku: 'SKU-002', quantity: 1, price: 5.49, title: 'Another thing, slightly larger' },
    { sku: 'SKU-003', quantity: 7, price: 100.01, title: 'A third thing' },
  ],
  total: 759.95,
  tags: ['new', 'web', 'gift'],
  flags: { vip: true, blocked: false, trial: null },
  agent: 'Mozilla/5.0 (X11; Linux x86_64)',
  note: 'Leave it with the neighbours if nobody opens, please. '.repeat(4),
};

const ordinary = Buffer.from(JSON.stringify(ORDER));
/** The same with one number that must be kept as it is spelled: it takes the exact way. */
const exact = Buffer.from(JSON.stringify(ORDER).replace('759.95', '759.50'));

const clock = { now: () => Date.UTC(2026, 2, 1) };
const chain = compileTransforms(
  [
    { type: 'filter', config: { condition: "$.active && $.status == 'paid'" } },
    { type: 'mask', config: { fields: ['customer.email', 'card'], keepLength: true } },
    {
      type: 'select',
      config: { fields: ['id', 'orderId', 'status', 'customer', 'card', 'items', 'total', 'created', 'note'] },
    },
    { type: 'timestamp', config: { fieldName: 'processed_at' } },
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
