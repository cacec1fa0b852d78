import { describe, expect, it } from 'vitest';
import { crdFrom, withCrdDefaults } from './crd.ts';
import { validateCrd } from './crd-validation.ts';
import { answerOf, type Recorded, recording } from './recorded-answers.ts';

interface Case extends Recorded {
  readonly crd: unknown;
  readonly old?: unknown;
}

/** The storage strategy, not validation, remembers a new storage version. */
function withStorageVersion(object: unknown): unknown {
  const crd = crdFrom(object);
  const stored = crd.status?.storedVersions ?? [];
  const storage = crd.spec.versions?.find((version) => version.storage)?.name;
  if (storage === undefined || stored.length === 0 || stored.includes(storage)) return crd;
  return { ...crd, status: { ...crd.status, storedVersions: [...stored, storage] } };
}

const cases: readonly Case[] = JSON.parse(recording('crds.json'));

describe('a definition is judged as by the real server', () => {
  it.each(cases)('$name', ({ crd, old, answer }) => {
    const before = old === undefined ? undefined : crdFrom(old);
    const object = withCrdDefaults(crdFrom(before === undefined ? crd : withStorageVersion(crd)));
    expect(answerOf(validateCrd(object, before))).toEqual(answer);
  });
});
