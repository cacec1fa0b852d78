import { timestamp } from '../clock/index.ts';

export type ConditionStatus = 'True' | 'False' | 'Unknown';

/** One claim about an object, as `metav1.Condition`. In a CRD the list is a map keyed by `type`. */
export interface Condition {
  readonly type: string;
  readonly status: ConditionStatus;
  /** One word for machines: `NodesDraining`. */
  readonly reason: string;
  readonly message: string;
  /** The generation of the spec that the claim is about. */
  readonly observedGeneration?: number;
  /** When `status` last became what it is. */
  readonly lastTransitionTime: string;
}

export type NewCondition = Omit<Condition, 'lastTransitionTime'>;

/** What the API server demands of a condition's reason. */
const REASON = /^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/;
const LONGEST_REASON = 1024;
const LONGEST_MESSAGE = 32_768;

/**
 * The conditions with this one in them, in its old place if it had one. Its time changes only if its status does, so a
 * better message for the same state does not look like a transition. `now` is in milliseconds.
 */
export function setCondition(conditions: readonly Condition[], next: NewCondition, now: number): Condition[] {
  if (!REASON.test(next.reason) || next.reason.length > LONGEST_REASON) {
    throw new RangeError(`reason '${next.reason}' of condition ${next.type} must match ${REASON.source}`);
  }
  const old = conditions.find(({ type }) => type === next.type);
  const condition: Condition = {
    ...next,
    message: next.message.slice(0, LONGEST_MESSAGE),
    lastTransitionTime: old?.status === next.status ? old.lastTransitionTime : timestamp(now),
  };
  return old ? conditions.map((one) => (one === old ? condition : one)) : [...conditions, condition];
}

export function findCondition(conditions: readonly Condition[] | undefined, type: string): Condition | undefined {
  return conditions?.find((condition) => condition.type === type);
}

/**
 * Whether two statuses say the same, times aside. A status that is written whenever a time in it moved wakes its own
 * controller, which moves the time: the classic hot loop. `timeFields` names further fields that only say when.
 */
export function sameStatus(a: unknown, b: unknown, timeFields: readonly string[] = []): boolean {
  return isSame(a, b, new Set(['lastTransitionTime', ...timeFields]));
}

/** As both would be as JSON: a field that is undefined is a field that is not there. */
function isSame(a: unknown, b: unknown, ignored: ReadonlySet<string>): boolean {
  if (a === b) return true;
  if (!isObject(a) || !isObject(b) || Array.isArray(a) !== Array.isArray(b)) return false;
  const fields = (of: object) =>
    Object.entries(of).filter(([field, value]) => value !== undefined && !ignored.has(field));
  const [left, right] = [fields(a), new Map(fields(b))];
  return (
    left.length === right.size &&
    left.every(([field, value]) => right.has(field) && isSame(value, right.get(field), ignored))
  );
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;
