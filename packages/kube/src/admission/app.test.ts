import { beforeEach, describe, expect, test } from 'vitest';
import { applyJsonPatch } from '../../test/json-patch.ts';
import type { JsonPatchOperation } from '../client/index.ts';
import { VirtualClock } from '../clock/index.ts';
import type { Kind, Resource } from '../kinds/index.ts';
import { silentLogger } from '../log.ts';
import { type AdmissionEvents, admissionApp } from './app.ts';
import { conversion, mutating, validating } from './webhook.ts';

type Flow = Resource<{ readonly replicas?: number; readonly mode?: string }, never>;
const flows: Kind<Flow> = { group: 'dataflow.io', version: 'v1', kind: 'Flow', plural: 'flows', namespaced: true };
const flow: Flow = { apiVersion: 'dataflow.io/v1', kind: 'Flow', metadata: { name: 'f' }, spec: { replicas: 0 } };

const webhooks = {
  '/validate': validating(flows, ({ object, operation }) => {
    if (operation === 'DELETE') return { allowed: true, warnings: ['w'.repeat(200)] };
    if (object?.spec.mode === 'throw') throw new Error('no such mode');
    if (object?.spec.replicas !== 0) return { allowed: true };
    const causes = [{ reason: 'FieldValueInvalid', field: 'spec.replicas', message: 'must be at least 1' }];
    return { allowed: false, code: 422, message: 'replicas must be at least 1', causes };
  }),
  '/default': mutating(flows, ({ object }) => ({
    allowed: true,
    object: { ...object, spec: { ...object.spec, mode: object.spec.mode ?? 'batch' } },
  })),
  '/convert': conversion((object, version) => {
    if (version.endsWith('v3')) throw new Error('v3 is not known');
    return { ...object, metadata: { name: 'renamed', labels: { converted: 'yes' } } };
  }),
};

let told: string[];
const on: AdmissionEvents = {
  started: (path) => told.push(`started ${path}`),
  answered: (path, code) => told.push(`answered ${path} ${code}`),
  failed: (path, review) => told.push(`failed ${path} ${review}`),
};
const app = admissionApp({ webhooks, clock: new VirtualClock(), log: silentLogger, on });
beforeEach(() => {
  told = [];
});

const post = (path: string, body: unknown, headers: Record<string, string> = { 'content-type': 'application/json' }) =>
  app.request(path, { method: 'POST', headers, body: typeof body === 'string' ? body : JSON.stringify(body) });

interface Answer {
  readonly apiVersion: string;
  readonly kind: string;
  readonly response: { readonly uid: string; readonly patch?: string };
}

const admit = async (path: string, request: object): Promise<Answer> => {
  const kind = { group: 'dataflow.io', version: 'v1', kind: 'Flow' };
  const review = { uid: 'u-1', kind, operation: 'CREATE', object: flow, oldObject: null, ...request };
  const answer = await post(path, { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request: review });
  expect(answer.status).toBe(200);
  const body: Answer = JSON.parse(await answer.text());
  return body;
};

const convert = async (desiredAPIVersion: string) => {
  const request = { uid: 'c-1', desiredAPIVersion, objects: [flow] };
  const answer = await post('/convert', { apiVersion: 'apiextensions.k8s.io/v1', kind: 'ConversionReview', request });
  const body: Answer = JSON.parse(await answer.text());
  return body.response;
};

describe('a validating webhook', () => {
  test('denies with a code, a message and what is wrong where, under the uid it was asked with', async () => {
    expect(await admit('/validate', {})).toEqual({
      apiVersion: 'admission.k8s.io/v1',
      kind: 'AdmissionReview',
      response: {
        uid: 'u-1',
        allowed: false,
        status: {
          code: 422,
          message: 'replicas must be at least 1',
          details: { causes: [{ reason: 'FieldValueInvalid', field: 'spec.replicas', message: 'must be at least 1' }] },
        },
      },
    });
    expect(told).toEqual(['started /validate', 'answered /validate 200']);
  });

  test('allows what is right', async () => {
    const { response } = await admit('/validate', { object: { ...flow, spec: { replicas: 1 } } });
    expect(response).toEqual({ uid: 'u-1', allowed: true });
  });

  test('sees deletions, and its warnings are cut to what the server shows', async () => {
    const { response } = await admit('/validate', { operation: 'DELETE', object: null, oldObject: flow });
    expect(response).toEqual({ uid: 'u-1', allowed: true, warnings: [`${'w'.repeat(117)}...`] });
  });

  test('that throws denies, says so, and serves the next one', async () => {
    const { response } = await admit('/validate', { object: { ...flow, spec: { mode: 'throw' } } });
    expect(response).toMatchObject({
      uid: 'u-1',
      allowed: false,
      status: { code: 500, message: 'the webhook /validate failed: no such mode' },
    });
    expect(told).toContain('failed /validate AdmissionReview');
    expect((await admit('/validate', { operation: 'DELETE' })).response).toMatchObject({ allowed: true });
  });

  test('does not judge kinds it was not made for', async () => {
    const { response } = await admit('/validate', { kind: { group: '', version: 'v1', kind: 'Pod' } });
    expect(response).toMatchObject({
      allowed: false,
      status: { code: 400, message: 'this webhook is for dataflow.io/v1 Flow, not v1 Pod' },
    });
  });
});

describe('a mutating webhook', () => {
  test('answers with the patch that makes the object so', async () => {
    const { response } = await admit('/default', {});
    expect(response).toMatchObject({ uid: 'u-1', allowed: true, patchType: 'JSONPatch' });
    const patch: JsonPatchOperation[] = JSON.parse(Buffer.from(response.patch ?? '', 'base64').toString());
    expect(applyJsonPatch(flow, patch)).toEqual({ ...flow, spec: { replicas: 0, mode: 'batch' } });
  });

  test('that changes nothing sends no patch', async () => {
    const { response } = await admit('/default', { object: { ...flow, spec: { mode: 'stream' } } });
    expect(response).toEqual({ uid: 'u-1', allowed: true });
  });
});

describe('a conversion', () => {
  test('gives objects of the version asked for, and keeps their identity', async () => {
    expect(await convert('dataflow.io/v2')).toEqual({
      uid: 'c-1',
      result: { status: 'Success' },
      convertedObjects: [
        { ...flow, apiVersion: 'dataflow.io/v2', metadata: { name: 'f', labels: { converted: 'yes' } } },
      ],
    });
  });

  test('that can not be done says why', async () => {
    expect(await convert('dataflow.io/v3')).toEqual({
      uid: 'c-1',
      result: { status: 'Failed', message: 'the webhook /convert failed: v3 is not known' },
    });
  });
});

describe('what is no review', () => {
  const review = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request: { uid: 'u' } };

  test.each([
    ['a body that is no JSON', '{', {}, 400],
    ['a body that is no object', 'null', {}, 400],
    ['a review without a request', { ...review, request: undefined }, {}, 400],
    ['a review of an older version', { ...review, apiVersion: 'admission.k8s.io/v1beta1' }, {}, 400],
    ['another type of content', review, { 'content-type': 'application/yaml' }, 415],
    ['a body above 7 MB', `"${'x'.repeat(7 * 1024 * 1024)}"`, {}, 413],
  ])('is refused: %s', async (_, body, headers, status) => {
    const length = typeof body === 'string' ? { 'content-length': String(body.length) } : {};
    const answer = await post('/validate', body, { 'content-type': 'application/json', ...length, ...headers });
    expect(answer.status).toBe(status);
  });

  test('is refused: a GET, an unknown path', async () => {
    expect((await app.request('/validate')).status).toBe(405);
    expect((await post('/nowhere', review)).status).toBe(404);
  });
});
