import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Json, type JsonObject, type JsonSchema, Schema } from '../schema/schema.ts';
import { type Apply, type ApplyOutcome, applyConfiguration } from './apply.ts';
import { applyConflict } from './conflicts.ts';
import { FieldSet } from './field-set.ts';
import { decodeManagedFields } from './managed-fields.ts';
import { applyMergePatch } from './merge-patch.ts';
import {
  differences,
  inAnyOrder,
  kindOf,
  managedFieldsOf,
  recordedForm,
  refusalOf,
  replays,
  timeOf,
} from './recorded-answers.ts';
import { Shape } from './shape.ts';
import { applyStrategicMergePatch } from './strategic-merge.ts';
import { ignoredFields, metadataOf, type TrackedKind } from './tracking.ts';
import { fieldsOf, withNamedParents } from './typed-fields.ts';
import { trackUpdate } from './update.ts';

const applies = replays
  .filter(({ step }) => step.verb === 'apply')
  .map(({ name, step, live }) => {
    const kind = kindOf(step.kind);
    const apply: Apply = {
      kind,
      live,
      applied: step.body,
      force: step.force ?? false,
      manager: step.by,
      subresource: step.sub,
      time: timeOf(step.answer ?? {}),
      ignored: ignoredFields(kind, step.sub),
    };
    return { name, apply, answer: step.answer, error: step.error };
  });

function applied(outcome: ApplyOutcome): JsonObject {
  if (outcome.outcome === 'conflict') throw applyConflict(outcome.conflicts);
  return outcome.object;
}

describe('an apply', () => {
  it.each(applies.filter(({ answer }) => answer))('does what the real server does: $name', ({ apply, answer = {} }) => {
    const object = applied(applyConfiguration(apply));
    expect(managedFieldsOf(object)).toEqual(managedFieldsOf(answer));
    // What an endpoint resets is for those to drop who store the object.
    const dropped = new Set(['metadata', ...(apply.ignored ?? []).map(([name]) => name)]);
    const kept = Object.fromEntries(Object.entries(object).filter(([name]) => !dropped.has(name)));
    expect(differences(kept, answer)).toEqual([]);
  });

  it.each(applies.filter(({ error }) => error?.code === 409))(
    'conflicts like with the real server: $name',
    ({ apply, error }) => {
      const outcome = applyConfiguration(apply);
      const conflicts = outcome.outcome === 'conflict' ? outcome.conflicts : [];
      const details = inAnyOrder(error?.details ?? {});
      expect(recordedForm(applyConflict(conflicts))).toEqual({ ...error, details });
    },
  );

  it.each(applies.filter(({ error }) => error && error.code !== 409))(
    'is refused like by the real server: $name',
    ({ apply, error }) => {
      expect(refusalOf(() => applyConfiguration(apply))).toEqual(error);
    },
  );

  it('of another kind is refused', () => {
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'w' } };
    expect(refusalOf(() => applyConfiguration({ ...by('a', {}), applied: pod }))).toEqual({
      code: 400,
      reason: 'BadRequest',
      message: 'invalid object type: v1, Kind=Pod',
    });
  });
});

const kind = kindOf('Widget');
const shape = Shape.of(kind.schema);
const widget = (spec: JsonObject): JsonObject => ({
  apiVersion: 'merge.polder.test/v1',
  kind: 'Widget',
  metadata: { name: 'w' },
  spec,
});
const by = (manager: string, spec: JsonObject, live?: JsonObject): Apply => ({
  kind,
  live,
  applied: widget(spec),
  manager,
  force: true,
  time: 0,
});

const withPart = (part: JsonSchema): TrackedKind => ({
  ...kind,
  schema: new Schema({ type: 'object', properties: { spec: { type: 'object', properties: { part } } } }),
});

const configMap = (data: JsonObject): JsonObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'c' },
  data,
});

describe('keys that every object of the language has', () => {
  // Written as text: a literal would set the prototype.
  const odd: JsonObject = JSON.parse('{"constructor":"1","__proto__":"2","toString":"3"}');
  const write = { kind: kindOf('ConfigMap'), manager: 'a', time: 0, force: false };

  it('are keys like any other', () => {
    const live = trackUpdate({ ...write, manager: 'b', live: undefined, updated: configMap({ x: '1' }) });
    const object = applied(applyConfiguration({ ...write, live, applied: configMap(odd) }));
    expect(JSON.stringify(object.data)).toBe('{"x":"1","constructor":"1","__proto__":"2","toString":"3"}');
    expect(managedFieldsOf(object)).toMatchObject([
      { manager: 'a', fieldsV1: { 'f:data': { 'f:constructor': {}, 'f:__proto__': {}, 'f:toString': {} } } },
      { manager: 'b' },
    ]);
    const gone = applied(applyConfiguration({ ...write, live: object, applied: configMap({}) }));
    expect(JSON.stringify(gone.data)).toBe('{"x":"1"}');
    const patched = applyMergePatch(configMap({ x: '1' }), configMap(odd));
    expect(JSON.stringify(patched.data)).toBe(JSON.stringify(object.data));
    expect(applyStrategicMergePatch(configMap({ x: '1' }), configMap(odd), write.kind.schema)).toEqual(patched);
  });
});

describe('when a schema changes', () => {
  const list: JsonSchema = { type: 'array', items: { type: 'string' } };

  it.each<{ part: JsonSchema; later: JsonSchema; first: Json; second: Json }>([
    { part: { ...list, 'x-kubernetes-list-type': 'set' }, later: list, first: ['a'], second: ['a', 'b'] },
    {
      part: { type: 'object', additionalProperties: { type: 'string' } },
      later: { type: 'object', additionalProperties: { type: 'string' }, 'x-kubernetes-map-type': 'atomic' },
      first: { a: '1' },
      second: { b: '1' },
    },
  ])(
    'what became atomic belongs as a whole to those who owned some of it ($first)',
    ({ part, later, first, second }) => {
      const live = applied(applyConfiguration({ ...by('a', { part: first }), kind: withPart(part) }));
      const other = { ...by('b', { part: second }, live), kind: withPart(later), force: false };
      expect(applyConfiguration(other)).toMatchObject({
        outcome: 'conflict',
        conflicts: [{ path: ['f:spec', 'f:part'] }],
      });
      const forced = applied(applyConfiguration({ ...other, force: true }));
      expect(managedFieldsOf(forced)).toMatchObject([{ manager: 'b', fieldsV1: { 'f:spec': { 'f:part': {} } } }]);
    },
  );
});

const text = fc.constantFrom('x', 'y', 'z');
const free: fc.Arbitrary<Json> = fc.oneof(
  text,
  fc.constant({ y: 1 }),
  fc.constant({ z: { q: 'x' } }),
  fc.constant([1, 2]),
);
const part = fc.record({ name: text, zone: text, weight: fc.nat(2) }, { requiredKeys: ['name'] });
const specs: fc.Arbitrary<JsonObject> = fc
  .record(
    {
      size: fc.nat(3),
      tags: fc.uniqueArray(text, { minLength: 1 }),
      steps: fc.array(fc.record({ name: text })),
      parts: fc.uniqueArray(part, { minLength: 1, selector: ({ name, zone = 'any' }) => `${name}/${zone}` }),
      sealed: fc.record({ a: text, b: text }, { requiredKeys: [] }),
      free: fc.dictionary(fc.constantFrom('x', 'y'), free, { minKeys: 1 }),
      nested: fc.record({ deep: fc.record({ leaf: text, other: text }, { requiredKeys: ['leaf'] }) }),
    },
    { requiredKeys: [] },
  )
  .map((spec) => {
    const plain: JsonObject = JSON.parse(JSON.stringify({ mode: 'slow', ...spec }));
    return plain;
  });
const turns = fc.array(fc.record({ manager: fc.constantFrom('a', 'b', 'c'), spec: specs, isApply: fc.boolean() }), {
  minLength: 1,
  maxLength: 6,
});

/** An object with the history that the turns give it. */
function history(steps: readonly { manager: string; spec: JsonObject; isApply: boolean }[]): JsonObject | undefined {
  return steps.reduce<JsonObject | undefined>((live, { manager, spec, isApply }) => {
    if (isApply) return applied(applyConfiguration(by(manager, spec, live)));
    return trackUpdate({ kind, live, updated: { ...live, ...widget(spec) }, manager, time: 0 });
  }, undefined);
}

describe('whatever happened before', () => {
  it('applying the same again changes nothing', () => {
    fc.assert(
      fc.property(turns, specs, (steps, spec) => {
        const once = applied(applyConfiguration(by('a', spec, history(steps))));
        const again = applyConfiguration({ ...by('a', spec, once), force: false, time: 60_000 });
        expect(again).toEqual({ outcome: 'applied', object: once, isChanged: false });
      }),
    );
  });

  it('what was applied is there, and only what exists has an owner', () => {
    fc.assert(
      fc.property(turns, specs, (steps, spec) => {
        const object = applied(applyConfiguration(by('a', spec, history(steps))));
        const present = withNamedParents(fieldsOf(object, shape), shape);
        expect(fieldsOf(widget(spec), shape).difference(present).isEmpty).toBe(true);
        const owners = decodeManagedFields(metadataOf(object).managedFields, shape) ?? new Map();
        for (const { fields } of owners.values()) expect(fields.leaves().difference(present)).toEqual(FieldSet.empty);
      }),
    );
  });

  it("applying the same again keeps someone else's unrelated change", () => {
    fc.assert(
      fc.property(turns, specs, text, (steps, spec, title) => {
        const mine = applied(applyConfiguration(by('a', spec, history(steps))));
        const theirs = applied(applyConfiguration(by('other', { title }, mine)));
        const again = applyConfiguration({ ...by('a', spec, theirs), force: false });
        expect(again).toEqual({ outcome: 'applied', object: theirs, isChanged: false });
      }),
    );
  });

  it('applying nothing gives up all that was applied, and nothing of others', () => {
    fc.assert(
      fc.property(specs, specs, (mine, theirs) => {
        const before = applied(applyConfiguration(by('b', theirs)));
        const object = applied(
          applyConfiguration(by('a', {}, applied(applyConfiguration({ ...by('a', mine, before) })))),
        );
        const owners = decodeManagedFields(metadataOf(object).managedFields, shape) ?? new Map();
        const left = fieldsOf(object, shape).leaves();
        const owned = [...owners.values()].reduce((set, { fields }) => set.union(fields), FieldSet.empty);
        const spec = FieldSet.of([...left.paths()].filter(([first]) => first === 'f:spec'));
        expect(spec.difference(withNamedParents(owned, shape))).toEqual(FieldSet.empty);
      }),
    );
  });
});
