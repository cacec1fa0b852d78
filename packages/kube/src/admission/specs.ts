import { isDeepStrictEqual } from 'node:util';
import type { Kind, Resource } from '../kinds/index.ts';
import type { AdmissionRequest, Verdict } from './review.ts';
import { validating, type Webhook } from './webhook.ts';

/** What is to be said about a spec. */
export interface SpecJudgement {
  /** Everything that is wrong, as one message. Undefined: it may be stored. */
  readonly objection?: string | undefined;
  /** What is allowed and may be regretted. */
  readonly warnings: readonly string[];
}

/**
 * A validating webhook that judges specs, and only those that somebody has just written. A spec that was stored before the
 * rule that refuses it must not be in the way of a finalizer, a label, or the deletion that would be rid of it. `old` is the
 * resource before the change, if there was one.
 */
export function validatingSpecs<Spec, Status>(
  kind: Kind<Resource<Spec, Status>>,
  judge: (object: Resource<Spec, Status>, old: Resource<Spec, Status> | undefined) => SpecJudgement,
): Webhook {
  return validating(kind, ({ operation, object, oldObject }: AdmissionRequest<Resource<Spec, Status>>): Verdict => {
    if (object === null || operation === 'DELETE' || object.metadata.deletionTimestamp !== undefined) return ALLOWED;
    if (oldObject !== null && isDeepStrictEqual(object.spec, oldObject.spec)) return ALLOWED;
    const { objection, warnings } = judge(object, oldObject ?? undefined);
    return objection === undefined ? { allowed: true, warnings } : { allowed: false, message: objection, warnings };
  });
}

const ALLOWED: Verdict = { allowed: true };
