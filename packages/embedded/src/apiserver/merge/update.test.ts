import { describe, expect, it } from 'vitest';
import { settleTimes } from './apply.ts';
import { kindOf, managedFieldsOf, replays, timeOf } from './recorded-answers.ts';
import { ignoredFields, metadataOf, type Write } from './tracking.ts';
import { trackUpdate } from './update.ts';

const accepted = replays.filter(({ step }) => step.verb !== 'apply' && step.answer);

describe('an update', () => {
  it.each(accepted)('makes the owners that the real server makes: $name', ({ step, live }) => {
    const kind = kindOf(step.kind);
    const answer = step.answer ?? {};
    // The request says what happens to managedFields, the answer what defaulting made of all the rest.
    const { managedFields: _, ...metadata } = metadataOf(answer);
    const { managedFields } = metadataOf(step.body);
    const updated = { ...answer, metadata: { ...metadata, ...(managedFields !== undefined && { managedFields }) } };
    const tracked = trackUpdate({
      kind,
      live,
      updated,
      manager: step.by,
      subresource: step.sub,
      time: timeOf(answer),
      ignored: ignoredFields(kind, step.sub),
    });
    expect(managedFieldsOf(settleTimes(live, tracked))).toEqual(managedFieldsOf(answer));
  });

  const write: Write = { kind: kindOf('Widget'), manager: 'editor', time: Date.UTC(2030, 0, 1) };
  const widget = { apiVersion: 'merge.polder.test/v1', kind: 'Widget', metadata: { name: 'w' } };

  it('to a field that the endpoint resets gives nobody that field', () => {
    const ignored = ignoredFields(write.kind);
    const created = trackUpdate({
      ...write,
      ignored,
      live: undefined,
      updated: { ...widget, spec: { size: 1 }, status: { phase: 'x' } },
    });
    expect(managedFieldsOf(created)).toEqual([
      {
        manager: 'editor',
        operation: 'Update',
        apiVersion: 'merge.polder.test/v1',
        time: '2030-01-01T00:00:00Z',
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:spec': { '.': {}, 'f:size': {} } },
      },
    ]);
  });

  it('that changes nothing keeps owners and times', () => {
    const created = trackUpdate({ ...write, live: undefined, updated: { ...widget, spec: { size: 1 } } });
    const again = { ...write, manager: 'other', time: write.time + 60_000, live: created, updated: created };
    expect(trackUpdate(again)).toEqual(created);
  });

  it.each([[], [{}]].map((managedFields) => ({ managedFields })))(
    'with managedFields $managedFields ends the tracking, through the object itself but not through a subresource',
    ({ managedFields }) => {
      const created = trackUpdate({ ...write, live: undefined, updated: { ...widget, spec: { size: 1 } } });
      const cleared = { ...created, metadata: { ...metadataOf(created), managedFields } };
      expect(managedFieldsOf(trackUpdate({ ...write, live: created, updated: cleared }))).toEqual([]);
      const toStatus = trackUpdate({ ...write, subresource: 'status', live: created, updated: cleared });
      expect(managedFieldsOf(toStatus)).toEqual(managedFieldsOf(created));
    },
  );

  it('without managedFields, or with some that make no sense, keeps the owners there were', () => {
    const created = trackUpdate({ ...write, live: undefined, updated: { ...widget, spec: { size: 1 } } });
    const nonsense = { ...created, metadata: { name: 'w', managedFields: [{ manager: 'x', operation: 'Guess' }] } };
    expect(managedFieldsOf(trackUpdate({ ...write, live: created, updated: nonsense }))).toEqual(
      managedFieldsOf(created),
    );
    const silent = { ...created, metadata: { name: 'w' } };
    expect(managedFieldsOf(trackUpdate({ ...write, live: created, updated: silent }))).toEqual(
      managedFieldsOf(created),
    );
  });
});
