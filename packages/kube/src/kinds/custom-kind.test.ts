import { Type } from 'typebox';
import { describe, expect, expectTypeOf, test } from 'vitest';
import type { Client, NewObject } from '../client/index.ts';
import {
  apiVersionOf,
  type CustomKind,
  defineKind,
  type Kind,
  type Resource,
  type ResourceOf,
  withRules,
} from './index.ts';
import { ClusterThing, Pipeline } from './testdata/kinds.ts';

const describeSink = (sink: Pipeline['spec']['sink']) => (sink.type === 'kafka' ? sink.topic : sink.type);
const getPipeline = (client: Client) => client.get(Pipeline, { name: 'p' });

describe('a defined kind', () => {
  test('is a kind like every other, namespaced if nothing else is said', () => {
    expectTypeOf(Pipeline).toExtend<Kind<Pipeline>>();
    expectTypeOf(Pipeline).toExtend<CustomKind>();
    expect(apiVersionOf(Pipeline)).toBe('kinds.polder.dev/v1');
    expect([Pipeline.namespaced, ClusterThing.namespaced]).toEqual([true, false]);
    expect(Pipeline.singular).toBe('pipeline');
  });

  test('gives the type of its objects', () => {
    expectTypeOf<Pipeline>().toExtend<Resource<unknown, unknown>>();
    expectTypeOf<Pipeline['spec']['replicas']>().toEqualTypeOf<number>();
    expectTypeOf<Pipeline['spec']['delivery']>().toEqualTypeOf<'at-least-once' | 'exactly-once'>();
    expectTypeOf<Pipeline['spec']['maxReplicas']>().toEqualTypeOf<number | undefined>();
    expectTypeOf<Pipeline['spec']['note']>().toEqualTypeOf<string | null | undefined>();
    expectTypeOf<Pipeline['spec']['surge']>().toEqualTypeOf<string | number | undefined>();
    expectTypeOf<Pipeline['spec']['labels']>().toEqualTypeOf<Record<string, string> | undefined>();
    expectTypeOf<NonNullable<Pipeline['status']>['observedGeneration']>().toEqualTypeOf<number | undefined>();
    expectTypeOf<ResourceOf<typeof ClusterThing>['spec']>().toEqualTypeOf<{ size: 'small' | 'large'; level: 1 | 2 }>();
  });

  test('tells the variants of a union apart by their type', () => {
    expect(describeSink({ type: 'kafka', topic: 'a' })).toBe('a');
    expectTypeOf<{ type: 'kafka'; table: string }>().not.toExtend<Pipeline['spec']['sink']>();
  });

  test('has core types inside with their own types', () => {
    expectTypeOf<NonNullable<Pipeline['spec']['affinity']>>().toHaveProperty('nodeAffinity');
    expectTypeOf<NonNullable<Pipeline['spec']['env']>[number]['name']>().toEqualTypeOf<string>();
  });

  test('is what the client reads and writes', () => {
    expectTypeOf(getPipeline).returns.resolves.toEqualTypeOf<Pipeline>();
    expectTypeOf<{ metadata: { name: string }; spec: Pipeline['spec'] }>().toExtend<NewObject<Pipeline>>();
  });
});

test('a rule on an optional field leaves it optional', () => {
  const K = defineKind({
    group: 'g.example.com',
    version: 'v1',
    kind: 'K',
    plural: 'ks',
    spec: Type.Object({ a: withRules(Type.Optional(Type.Integer()), [{ rule: 'self > 0' }]) }),
    status: Type.Object({}),
  });
  expectTypeOf<ResourceOf<typeof K>['spec']>().toEqualTypeOf<{ a?: number }>();
  expect(K.spec).not.toHaveProperty('required');
});
