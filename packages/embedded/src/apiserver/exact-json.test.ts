import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseJson, printJson } from './exact-json.ts';
import { TestServer } from './test-server.ts';

describe('JSON of a server in Go', () => {
  it('keeps every whole number of 64 bits', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (number) => {
        const text = `{"a":[${number},"${number}"]}`;
        expect(printJson(parseJson(text))).toBe(text);
      }),
    );
  });

  it('reads anything else as JavaScript does', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        const plain: unknown = JSON.parse(text);
        expect(parseJson(text)).toEqual(plain);
        expect(printJson(plain)).toBe(JSON.stringify(plain));
      }),
    );
  });

  it.each(['9223372036854775808', '1234567890123456.75', '1e22', '-0.1234567890123456789'])(
    'makes a float of %s, which is no whole number of 64 bits',
    (text) => {
      expect(parseJson(text)).toBe(Number(text));
    },
  );

  it('leaves numbers in texts alone', () => {
    expect(parseJson('"9007199254740993"')).toBe('9007199254740993');
  });
});

describe('a definition with whole numbers beyond 2^53', () => {
  it('gives the exact default, and is documented', async () => {
    const { server } = new TestServer();
    const n = '{"type":"integer","default":9007199254740993,"maximum":9223372036854774784}';
    const schema = `{"type":"object","properties":{"spec":{"type":"object","properties":{"n":${n}}}}}`;
    const definition = `{"metadata":{"name":"ws.example.com"},"spec":{"group":"example.com","scope":"Cluster",
      "names":{"plural":"ws","kind":"W"},
      "versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":${schema}}}]}}`;
    const call = async (method: 'GET' | 'POST', path: string, body?: string) => {
      const answer = await server.handle({ method, path, headers: {}, body });
      return { status: answer.status, text: await answer.text() };
    };
    expect(await call('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition)).toMatchObject({
      status: 201,
    });
    const object = '{"apiVersion":"example.com/v1","kind":"W","metadata":{"name":"a"},"spec":{}}';
    const made = await call('POST', '/apis/example.com/v1/ws', object);
    expect(made.text).toContain('"spec":{"n":9007199254740993}');
    const { text } = await call('GET', '/openapi/v3/apis/example.com/v1');
    expect(text).toContain('9223372036854774784');
    for (const path of ['/openapi/v2', '/openapi/v3']) expect((await call('GET', path)).status).toBe(200);
  });
});
