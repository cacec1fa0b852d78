import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { tryFlow } from './try-flow.ts';
import { validateFlows } from './validate.ts';

const ORDERS = join(import.meta.dirname, '../../../../examples/flows/orders.yaml');
const clock = { now: () => Date.UTC(2026, 0, 1) };

const tried = async (lines: readonly string[], envelope = false) => {
  const said: unknown[] = [];
  const input = Readable.from(lines.map((line) => `${line}\n`));
  const options = { filename: ORDERS, envelope, input, inputName: 'in.jsonl' };
  await tryFlow(options, clock, (line) => void said.push(JSON.parse(line)));
  return said;
};

describe('polder try', () => {
  test('shows where each message would go, and what it would look like there', async () => {
    const order = (fields: string) => `{"id":1,"total":10.50,"card":{"number":"4111"},${fields}}`;
    expect(
      await tried([
        order('"paid":true,"country":"NL"'),
        order('"paid":true,"country":"BE"'),
        order('"paid":false'),
        'no JSON',
      ]),
    ).toEqual([
      { data: '{"id":1,"total":10.50,"card":{"number":"****"},"paid":true,"country":"NL"}', metadata: {}, to: 'main' },
      {
        data: '{"id":1,"total":10.50,"card":{"number":"****"},"paid":true,"country":"BE"}',
        metadata: { routed_condition: "country != 'NL'" },
        to: "route:country != 'NL'",
      },
      { data: order('"paid":false'), metadata: {}, to: 'dropped' },
      { data: 'no JSON', metadata: {}, to: 'dropped' },
    ]);
  });

  test('takes payloads and metadata from an envelope, whatever the payload is', async () => {
    const lines = [
      '{"data":{"id":12345678901234567890,"paid":1},"metadata":{"key":"k"}}',
      '{"data":{"text":"{\\"paid\\":true}"}}',
      '{"data":{"base64":"/w=="}}',
      '{"metadata":{"key":"gone"}}',
    ];
    expect(await tried(lines, true)).toEqual([
      { data: '{"id":12345678901234567890,"paid":1}', metadata: { key: 'k' }, to: 'main' },
      { data: '{"paid":true}', metadata: {}, to: 'main' },
      { data: '\ufffd', metadata: {}, to: 'dropped' },
      { data: null, metadata: { key: 'gone' }, to: 'dropped' },
    ]);
  });

  test('names the line that is no envelope', async () => {
    await expect(tried(['{"data":1}', '[]'], true)).rejects.toThrow('in.jsonl, line 2: an envelope is an object');
  });
});

describe('polder validate', () => {
  const validated = async (...paths: readonly string[]) => {
    const [out, err]: [string[], string[]] = [[], []];
    const isValid = await validateFlows(paths, {
      out: (line) => void out.push(line),
      err: (line) => void err.push(line),
    });
    return { isValid, out, err };
  };

  test('finds nothing wrong with the examples', async () => {
    const { isValid, out, err } = await validated(join(ORDERS, '..'));
    expect({ isValid, err }).toEqual({ isValid: true, err: [] });
    expect(out).toEqual(['orders.yaml, line 2: DataFlow orders is valid']);
  });

  test('says of a file without a DataFlow that there is none, and goes on with the next', async () => {
    const cluster = join(ORDERS, '../../cluster/tick.yaml');
    const { isValid, out, err } = await validated(cluster, ORDERS);
    expect({ isValid, err }).toEqual({ isValid: false, err: [`there is no DataFlow in ${cluster}`] });
    expect(out).toHaveLength(1);
  });
});
