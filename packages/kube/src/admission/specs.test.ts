import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import { systemClock } from '../clock/index.ts';
import { apiVersionOf, defineKind } from '../kinds/index.ts';
import { silentLogger } from '../log.ts';
import { admissionApp } from './app.ts';
import { validatingSpecs } from './specs.ts';

const Lamp = defineKind({
  group: 'test.polder.dev',
  version: 'v1',
  kind: 'Lamp',
  plural: 'lamps',
  spec: Type.Object({ watts: Type.Integer() }),
  status: Type.Object({}),
});

const app = admissionApp({
  clock: systemClock,
  log: silentLogger,
  webhooks: {
    '/lamps': validatingSpecs(Lamp, ({ spec }) =>
      spec.watts > 100 ? { objection: 'spec.watts: too bright', warnings: [] } : { warnings: ['spec.watts: dim'] },
    ),
  },
});

test('what may not change is known by what it was', async () => {
  const fixed = admissionApp({
    clock: systemClock,
    log: silentLogger,
    webhooks: {
      '/lamps': validatingSpecs(Lamp, ({ spec }, old) => ({
        objection: old && `spec.watts was ${old.spec.watts}, not ${spec.watts}`,
        warnings: [],
      })),
    },
  });
  expect(await asked('CREATE', lamp(10), null, fixed)).toEqual({ uid: 'u', allowed: true });
  expect(await asked('UPDATE', lamp(20), lamp(10), fixed)).toMatchObject({
    allowed: false,
    status: { message: 'spec.watts was 10, not 20' },
  });
});

const lamp = (watts: number, metadata: object = {}) => ({
  apiVersion: apiVersionOf(Lamp),
  kind: 'Lamp',
  metadata: { name: 'a', ...metadata },
  spec: { watts },
});

async function asked(
  operation: string,
  object: object | null,
  oldObject: object | null = null,
  webhooks = app,
): Promise<object> {
  const { group, version, kind } = Lamp;
  const request = { uid: 'u', operation, kind: { group, version, kind }, object, oldObject };
  const answer = await webhooks.request('/lamps', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request }),
  });
  const { response }: { readonly response: object } = JSON.parse(await answer.text());
  return response;
}

const REFUSED = { uid: 'u', allowed: false, status: { code: 403, message: 'spec.watts: too bright' } };

describe('a webhook that judges specs', () => {
  test('refuses a bad one that is new, with all that is wrong', async () => {
    expect(await asked('CREATE', lamp(200))).toEqual(REFUSED);
    expect(await asked('UPDATE', lamp(200), lamp(10))).toEqual(REFUSED);
    expect(await asked('UPDATE', lamp(300), lamp(200))).toEqual(REFUSED);
  });

  test('lets a good one pass, with its warnings', async () => {
    expect(await asked('CREATE', lamp(10))).toEqual({ uid: 'u', allowed: true, warnings: ['spec.watts: dim'] });
  });

  test.each([
    ['a deletion', 'DELETE', null, lamp(200)],
    ['a change of labels', 'UPDATE', lamp(200, { labels: { a: 'b' } }), lamp(200)],
    ['a change of the status', 'UPDATE', { ...lamp(200), status: { lit: true } }, lamp(200)],
    ['a finalizer that is taken off', 'UPDATE', lamp(300, { deletionTimestamp: '2026-01-01T00:00:00Z' }), lamp(200)],
  ])('is not in the way of %s, however bad the spec is that is stored', async (_, operation, object, old) => {
    expect(await asked(operation, object, old)).toEqual({ uid: 'u', allowed: true });
  });
});
