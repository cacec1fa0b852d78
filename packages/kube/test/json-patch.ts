import { isDeepStrictEqual } from 'node:util';
import type { JsonPatchOperation } from '../src/client/index.ts';

/** What a JSON patch makes of a document: the plain reading of RFC 6902, for tests to hold the real thing against. */
export function applyJsonPatch(document: unknown, operations: readonly JsonPatchOperation[]): unknown {
  let root: unknown = structuredClone(document);
  for (const operation of operations) {
    if (operation.op !== 'remove' && !('value' in operation)) throw new Error(`${operation.op} is not used here`);
    const steps = operation.path.split('/').slice(1).map(unescapeStep);
    if (operation.op === 'test') {
      const found = steps.reduce<unknown>(
        (value, step) => (isContainer(value) ? Reflect.get(value, step) : undefined),
        root,
      );
      // The API server takes a missing field for null.
      if (!isDeepStrictEqual(found ?? null, operation.value)) throw new Error(`test of ${operation.path} failed`);
      continue;
    }
    const last = steps.pop();
    if (last === undefined) {
      root = operation.op === 'remove' ? null : structuredClone(operation.value);
      continue;
    }
    const parent = steps.reduce<unknown>(
      (value, step) => (isContainer(value) ? Reflect.get(value, step) : undefined),
      root,
    );
    if (!isContainer(parent)) throw new Error(`there is nothing at ${operation.path}`);
    const exists = Object.hasOwn(parent, last);
    if (operation.op !== 'add' && !exists) throw new Error(`there is nothing at ${operation.path}`);
    if (Array.isArray(parent)) {
      const at = last === '-' ? parent.length : Number(last);
      if (!(at <= parent.length)) throw new Error(`${operation.path} is beyond the end`);
      const removed = operation.op === 'add' ? 0 : 1;
      parent.splice(at, removed, ...(operation.op === 'remove' ? [] : [structuredClone(operation.value)]));
    } else if (operation.op === 'remove') Reflect.deleteProperty(parent, last);
    else {
      const value = structuredClone(operation.value);
      Object.defineProperty(parent, last, { value, writable: true, enumerable: true, configurable: true });
    }
  }
  return root;
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function unescapeStep(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~');
}
