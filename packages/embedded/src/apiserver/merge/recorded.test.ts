import { describe, expect, it } from 'vitest';
import { isObject, type Json, type JsonObject } from '../schema/schema.ts';
import { StatusError } from '../status.ts';
import { applyConfiguration, settleTimes } from './apply.ts';
import { applyConflict } from './conflicts.ts';
import { kindOf, patches, type RecordedPatch, type RecordedWrite, recordedWrites } from './fixtures.ts';
import { applyJsonPatch } from './json-patch.ts';
import { applyMergePatch } from './merge-patch.ts';
import { applyStrategicMergePatch } from './strategic-merge.ts';
import { ignoredFields, metadataOf } from './tracking.ts';
import { trackUpdate } from './update.ts';

const entriesOf = (object: JsonObject): readonly Json[] => {
  const { managedFields } = metadataOf(object);
  return Array.isArray(managedFields) ? managedFields : [];
};

/** The time of the write, as the real server's clock had it. */
function timeOf(answer: JsonObject | undefined): number {
  const times = answer ? entriesOf(answer).map((entry) => (isObject(entry) ? Date.parse(String(entry.time)) : 0)) : [];
  return Math.max(0, ...times.filter((time) => !Number.isNaN(time)));
}

/** Defaults are filled in by others: what the real server added on top of ours is accepted, what differs is not. */
function expectSameButDefaults(ours: Json, theirs: Json): void {
  if (isObject(ours) && isObject(theirs)) {
    for (const [name, value] of Object.entries(ours)) expectSameButDefaults(value, theirs[name] ?? null);
  } else if (Array.isArray(ours) && Array.isArray(theirs)) {
    expect(ours).toHaveLength(theirs.length);
    for (const [index, item] of ours.entries()) expectSameButDefaults(item, theirs[index] ?? null);
  } else if (!isObject(ours) || Object.keys(ours).length > 0) {
    expect(ours).toEqual(theirs);
  }
}

const plain = (error: StatusError) => ({
  code: error.code,
  ...(error.reason !== '' && { reason: error.reason }),
  message: error.message,
  ...(error.details && { details: error.details }),
});

/** The real server names owners in the order of a hash map. */
function withSortedCauses(details: object | undefined): object | undefined {
  if (details === undefined || !('causes' in details) || !Array.isArray(details.causes)) return details;
  return { ...details, causes: details.causes.map((cause: unknown) => JSON.stringify(cause)).toSorted() };
}

function expectError(error: StatusError, expected: RecordedWrite['error']): void {
  const { details, ...rest } = plain(error);
  const { details: expectedDetails, ...expectedRest } = expected ?? { message: '' };
  expect(rest).toEqual(expectedRest);
  expect(withSortedCauses(details)).toEqual(withSortedCauses(expectedDetails));
}

function thrownBy(work: () => unknown): StatusError {
  try {
    work();
  } catch (error) {
    if (error instanceof StatusError) return error;
    throw error;
  }
  throw new Error('expected an error');
}

describe.each([...Map.groupBy(recordedWrites, ({ title }) => title)])('as the real server does: %s', (_, steps) => {
  let last: JsonObject | undefined;
  const replays = steps.map((step, index) => {
    const live = step.live === undefined ? last : (step.live ?? undefined);
    last = step.answer ?? live;
    return { step, live, name: `${index}: ${step.verb} by ${step.by}${step.sub ? ` to /${step.sub}` : ''}` };
  });

  it.each(replays)('$name', ({ step, live }) => {
    const kind = kindOf(step.kind);
    const ignored = ignoredFields(kind, step.sub);
    const write = { kind, manager: step.by, subresource: step.sub, time: timeOf(step.answer), ignored, live };
    if (step.verb === 'apply') {
      const apply = { ...write, applied: step.body, force: step.force ?? false };
      if (step.error && step.error.code !== 409) {
        expectError(
          thrownBy(() => applyConfiguration(apply)),
          step.error,
        );
        return;
      }
      const result = applyConfiguration(apply);
      if (result.outcome === 'conflict') {
        expectError(applyConflict(result.conflicts), step.error);
        return;
      }
      const answer = step.answer ?? {};
      expect(entriesOf(result.object)).toEqual(entriesOf(answer));
      const { spec = null, data = null, metadata: _, ...rest } = result.object;
      // An apply to /status may say anything of spec: whoever stores the object takes only the status.
      if (step.sub === 'status') expect(rest.status).toEqual(answer.status);
      else expectSameButDefaults(spec, answer.spec ?? null);
      expect(data ?? {}).toEqual(answer.data ?? {});
      if (step.sub === undefined) expect(metadataOf(result.object).labels).toEqual(metadataOf(answer).labels);
      return;
    }
    // The body of an update says what happens to managedFields; the answer says all that defaulting added.
    const { managedFields: _, ...metadata } = metadataOf(step.answer ?? {});
    const sent = step.verb === 'update' || step.verb === 'merge' ? metadataOf(step.body).managedFields : undefined;
    const updated = { ...step.answer, metadata: { ...metadata, ...(sent !== undefined && { managedFields: sent }) } };
    const tracked = trackUpdate({ ...write, updated });
    expect(entriesOf(settleTimes(live, tracked))).toEqual(entriesOf(step.answer ?? {}));
  });
});

describe('patches', () => {
  const titled = patches.patches.map((recorded) => ({
    recorded,
    name: `${recorded.type} ${recorded.kind} ${JSON.stringify(recorded.patch)}`,
  }));

  it.each(titled)('$name', ({ recorded }) => {
    const live = patches.lives[recorded.kind] ?? {};
    if (recorded.error) {
      expectError(
        thrownBy(() => patch(live, recorded)),
        recorded.error,
      );
      return;
    }
    const patched = patch(live, recorded);
    const { metadata, ...rest } = isObject(patched) ? patched : {};
    const answer = recorded.answer ?? {};
    expectSameButDefaults(rest.spec ?? null, answer.spec ?? null);
    expect(rest.data ?? null).toEqual(answer.data ?? null);
    const { finalizers, annotations } = isObject(metadata) ? metadata : {};
    expect({ finalizers }).toEqual({ finalizers: metadataOf(answer).finalizers });
    if (recorded.type !== 'strategic') expect({ annotations }).toEqual({ annotations: metadataOf(answer).annotations });
  });
});

function patch(live: JsonObject, { type, patch, kind }: RecordedPatch): Json {
  if (type === 'json') return applyJsonPatch(live, patch);
  return type === 'merge' ? applyMergePatch(live, patch) : applyStrategicMergePatch(live, patch, kindOf(kind).schema);
}
