import { admissionApp, type Cached, silentLogger, systemClock } from '@polder/kube';
import { expect, test } from 'vitest';
import { dataflowProduct } from './dataflow.ts';

const app = admissionApp({
  clock: systemClock,
  log: silentLogger,
  webhooks: Object.fromEntries(
    (dataflowProduct.webhooks?.({ list: () => [] }) ?? []).map(({ path, webhook }) => [path, webhook]),
  ),
});

/** What the API server is told about a new DataFlow, at the path that upstream's configurations name. */
async function asked(spec: object): Promise<unknown> {
  const kind = { group: 'dataflow.dataflow.io', version: 'v1', kind: 'DataFlow' };
  const object = { apiVersion: 'dataflow.dataflow.io/v1', kind: 'DataFlow', metadata: { name: 'a' }, spec };
  const request = { uid: 'u', operation: 'CREATE', kind, object, oldObject: null };
  const answer = await app.request('/validate-dataflow-dataflow-io-v1-dataflow', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request }),
  });
  const { response }: { readonly response: unknown } = JSON.parse(await answer.text());
  return response;
}

const sink = { type: 'kafka', kafka: { brokers: ['k:9092'], topic: 't' } };
const source = { type: 'kafka', kafka: { ...sink.kafka, consumerGroup: 'shop' } };

test('a DataFlow that can not work is refused with everything that is wrong', async () => {
  expect(await asked({ source: { type: 'kafka', kafka: { consumerGroup: 'shop' } }, sink })).toEqual({
    uid: 'u',
    allowed: false,
    status: {
      code: 403,
      message:
        '[spec.source.kafka.brokers: Invalid value: null: brokers or brokersSecretRef is required, ' +
        'spec.source.kafka.topic: Required value: topic or topicSecretRef is required]',
    },
  });
});

test('one that is risky is stored, with warnings', async () => {
  const connectionString = 'postgres://u:p@db/shop';
  const clear = { type: 'postgresql', config: { connectionString, table: 't' } };
  const response = await asked({ source, sink: clear });
  expect(response).toMatchObject({ allowed: true, warnings: [expect.stringContaining('connectionStringSecretRef')] });
  expect(JSON.stringify(response)).not.toContain('u:p');
});

test('one that is fine is stored without a word', async () => {
  expect(await asked({ source, sink })).toEqual({ uid: 'u', allowed: true });
});

test('the phase of each DataFlow is told, so that an alert can fire for one in Error', () => {
  const flow = {
    apiVersion: 'v1',
    kind: 'DataFlow',
    metadata: { namespace: 'shop', name: 'orders' },
    status: { phase: 'Error' },
  };
  const cached: Cached = { list: () => JSON.parse(JSON.stringify([flow])) };
  const labels = { namespace: 'shop', name: 'orders' };
  expect(dataflowProduct.gauges?.(cached)[0]?.samples).toEqual([
    { labels: { ...labels, phase: 'Pending' }, value: 0 },
    { labels: { ...labels, phase: 'Running' }, value: 0 },
    { labels: { ...labels, phase: 'Error' }, value: 1 },
    { labels: { ...labels, phase: 'Stopped' }, value: 0 },
  ]);
});
