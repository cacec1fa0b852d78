import { expect, test } from 'vitest';
import { BUILTIN_KINDS } from '../builtin/index.ts';
import { definitions } from './definitions.ts';

test('nothing is read before it is asked for', () => {
  expect(BUILTIN_KINDS.length).toBeGreaterThan(0);
  expect(definitions.size).toBe(0);
  const lease = BUILTIN_KINDS.find(({ kind }) => kind === 'Lease');
  expect(lease?.schema.property('spec')?.property('holderIdentity')?.node.type).toBe('string');
  expect(definitions.has('io.k8s.api.core.v1.Pod')).toBe(false);
});

test('a name that nobody defined is no file', () => {
  expect(definitions.get('../../../package.Json')).toBeUndefined();
  expect(definitions.get('io.k8s.api.core.v1.Nothing')).toBeUndefined();
});

test.each(BUILTIN_KINDS)('the schema of $group/$version $kind is there', ({ schema }) => {
  expect(Object.keys(schema.node.properties ?? {})).toContain('metadata');
});
