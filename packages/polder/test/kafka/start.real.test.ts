/** What a user sees of `polder processor` when something is wrong with Kafka, or when he ends it. */
import { afterEach, beforeEach, expect, inject, test } from 'vitest';
import { createTopic, lagOf, produceRaw, readAll } from '../../../../tools/kafka/topics.ts';
import { asked, counted, ended, startProcessor, stopped } from '../processors.ts';
import { Workplace } from '../program.ts';

const { plaintext: broker, saslPlaintext, username } = inject('kafka');
const PATIENCE = { timeout: 60_000, interval: 50 };
let place: Workplace;
beforeEach(() => {
  place = new Workplace();
});
afterEach(() => place[Symbol.asyncDispose]());

const flow = (source: object, more: object = {}) => ({
  source: { type: 'kafka', config: { brokers: [broker], topic: 'missing', consumerGroup: 'g', ...source } },
  sink: { type: 'kafka', config: { brokers: [broker], topic: 'nowhere' } },
  ...more,
});

test.each([
  ['a broker that can not be reached', { brokers: ['127.0.0.1:1'] }, /127\.0\.0\.1:1\b.*ECONNREFUSED/],
  [
    'a wrong password',
    { brokers: [saslPlaintext], sasl: { mechanism: 'scram-sha-256', username, password: 'wr0ng-s3cr3t' } },
    /the broker refused the user; check sasl\.username, sasl\.password and sasl\.mechanism/,
  ],
  ['a topic that can not be', { topic: 'no such topic' }, /the name of the topic is not valid/],
])('%s ends it with one line that says so', async (_, source, line) => {
  const { code, err, out } = await ended(startProcessor(place, flow(source), { env: { LOG_LEVEL: 'debug' } }));
  expect(err).toMatch(/^polder: failed to connect to source: kafka [^\n]*\n$/);
  expect(err).toMatch(line);
  expect(code).toBe(1);
  expect(out + err).not.toContain('wr0ng-s3cr3t');
});

test('every message is accounted for, and neither it nor a secret is in the log', async () => {
  const [source = '', target = '', paid = '', errors = ''] = await Promise.all(
    [1, 1, 1, 1].map((n) => createTopic(broker, n)),
  );
  const order = (n: number) => ({
    n,
    ok: n % 4 !== 0,
    to: n % 8 === 1 ? 'paid' : 'main',
    lines: [{ s: 'm4rked' }, { s: 'm4rked' }],
  });
  const orders = Array.from({ length: 400 }, (_, n) =>
    JSON.stringify(n % 40 === 2 ? { ...order(n), n: 'm4rked' } : order(n)),
  );
  await produceRaw(
    broker,
    orders.map((text) => ({ topic: source, key: Buffer.from('m4rked'), value: Buffer.from(text) })),
  );
  const sink = (topic: string) => ({ type: 'kafka', config: { brokers: [broker], topic } });
  const spec = flow(
    { topic: source, consumerGroup: source },
    {
      transformations: [
        { type: 'filter', config: { condition: 'ok' } },
        { type: 'cast', config: { spec: { n: 'int64' } } },
        { type: 'flatten', config: { field: 'lines' } },
        { type: 'router', config: { routes: [{ condition: "to == 'paid'", sink: sink(paid) }] } },
      ],
      sink: sink(target),
      errors: sink(errors),
    },
  );
  const processor = startProcessor(place, spec, { env: { LOG_LEVEL: 'debug' } });
  await expect.poll(() => lagOf(broker, source, source), PATIENCE).toBe(0);
  const of = (name: string, labels = '') => counted(processor, `dataflow_${name}`, labels);
  expect(await of('messages_received_total')).toBe(400);
  // A fourth is dropped by the filter; of what is left, ten can't be cast, and each other one makes two.
  expect(await of('transformer_messages_in_total', 'transformer_index="0"')).toBe(400);
  expect(await of('transformer_messages_out_total', 'transformer_index="0"')).toBe(300);
  expect(await of('transformer_errors_total', 'transformer_index="1"')).toBe(10);
  expect(await of('transformer_messages_in_total', 'transformer_index="2"')).toBe(290);
  expect(await of('transformer_messages_out_total', 'transformer_index="2"')).toBe(580);
  expect(await of('messages_sent_total', 'route="default"')).toBe(480);
  expect(await of('messages_sent_total', `route="to == 'paid'"`)).toBe(100);
  expect(await of('messages_sent_total', 'route="error"')).toBe(10);
  const { text } = await asked(processor, '/metrics');
  expect(text).toMatch(/^dataflow_task_active_messages\{[^}]*\} 0$/m);
  expect(text).toMatch(/^dataflow_task_success_rate\{[^}]*\} 0\.98/m);
  expect(await stopped(processor)).toBe(0);
  const counts = await Promise.all([target, paid, errors].map(async (topic) => (await readAll(broker, topic)).length));
  expect(counts).toEqual([480, 100, 10]);
  expect(processor.said.out + processor.said.err).not.toContain('m4rked');
});

test('Ctrl-C is as good as SIGTERM', async () => {
  const topic = await createTopic(broker, 1);
  const processor = startProcessor(place, flow({ topic, consumerGroup: topic }));
  await processor.says(/partitions assigned/);
  await produceRaw(broker, [{ topic, value: Buffer.from('{"n":1}') }]);
  await expect.poll(() => counted(processor, 'dataflow_messages_sent_total'), PATIENCE).toBe(1);
  processor.child.kill('SIGINT');
  expect(await ended(processor)).toMatchObject({ code: 0, err: '' });
  expect(await lagOf(broker, topic, topic)).toBe(0);
});
