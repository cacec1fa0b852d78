import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../schema/schema.ts';
import { applyConfiguration } from './apply.ts';
import { kindOf } from './recorded-answers.ts';
import { metadataOf, type Write } from './tracking.ts';
import { trackUpdate } from './update.ts';

const ANNOTATION = 'kubectl.kubernetes.io/last-applied-configuration';
const write: Write = { kind: kindOf('ConfigMap'), manager: 'kubectl-client-side-apply', time: 0 };
const configMap = (data: JsonObject, metadata: JsonObject = {}): JsonObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'la', ...metadata },
  data,
});

/** What `kubectl apply` made, with its annotation. */
const byClient = trackUpdate({
  ...write,
  live: undefined,
  updated: configMap(
    { a: '1', b: '<2>' },
    { annotations: { [ANNOTATION]: JSON.stringify(configMap({ a: '1', b: '<2>' })) } },
  ),
});
const next = configMap({ a: '2', b: '<2>', c: '1' });

describe('after kubectl applied on the client', () => {
  it('kubectl may apply on the server without a conflict, and the annotation follows', () => {
    const outcome = applyConfiguration({ ...write, manager: 'kubectl', live: byClient, applied: next, force: false });
    expect(outcome).toMatchObject({ outcome: 'applied', isChanged: true, object: { data: next.data } });
    const object = 'object' in outcome ? outcome.object : {};
    // Recorded: sorted, escaped, with a line break at its end.
    expect(metadataOf(object).annotations).toEqual({
      [ANNOTATION]:
        '{"apiVersion":"v1","data":{"a":"2","b":"\\u003c2\\u003e","c":"1"},"kind":"ConfigMap","metadata":{"name":"la"}}\n',
    });
  });

  it('anyone else who applies has the conflict', () => {
    const outcome = applyConfiguration({ ...write, manager: 'other', live: byClient, applied: next, force: false });
    expect(outcome).toMatchObject({ outcome: 'conflict', conflicts: [{ path: ['f:data', 'f:a'] }] });
  });

  it('so has kubectl, over what someone changed since', () => {
    const edited = { ...byClient, data: { a: '1', b: '9' } };
    const live = trackUpdate({ ...write, manager: 'editor', live: byClient, updated: edited });
    const outcome = applyConfiguration({ ...write, manager: 'kubectl', live, applied: next, force: false });
    expect(outcome).toMatchObject({ outcome: 'conflict', conflicts: [{ path: ['f:data', 'f:b'] }] });
  });
});
