import type { JsonObject } from '../schema/schema.ts';
import type { ScalePaths, WireObject } from '../served-kind.ts';
import type { Findings } from './field-errors.ts';
import { objectAt } from './fields.ts';
import type { Rule } from './names.ts';

/** What one built-in kind does beyond what its schema says; everything is optional. */
export interface Behaviour {
  /** The spelling of the objects' names; a DNS subdomain unless said otherwise. */
  readonly name?: Rule;
  /** Whether a change of the desired state raises `metadata.generation`. */
  readonly generation?: boolean;
  readonly scale?: ScalePaths;
  /** What the server fills in on every write. */
  readonly defaults?: (object: WireObject) => WireObject;
  /** What it sets once, on create, whatever was sent: the first status, finalizers, generated selectors. */
  readonly prepare?: (object: WireObject) => WireObject;
  readonly validate?: (object: WireObject, old: WireObject | undefined) => Findings;
}

/** Fills in an object's spec. */
export const specDefaults = (change: (spec: JsonObject) => JsonObject) => (object: WireObject) => ({
  ...object,
  spec: change(objectAt(object, 'spec')),
});

/** The status of a new object. */
export const firstStatus = (status: JsonObject) => (object: WireObject) => ({ ...object, status });
