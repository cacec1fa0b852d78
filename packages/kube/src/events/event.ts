import type { EventsV1Event, KubernetesObject, ObjectReference } from '../kinds/index.ts';
import { microTime } from './micro-time.ts';

/** What happened, in a controller's words. */
export interface Happening {
  readonly type: 'Normal' | 'Warning';
  /** Why, for machines: `ScaledDown`. */
  readonly reason: string;
  /** What was done or attempted, for machines: `Scale`. */
  readonly action: string;
  /** For people. Cut to 1 kB. */
  readonly note: string;
  readonly related?: KubernetesObject | undefined;
}

/** Who reports. */
export interface Reporter {
  /** A qualified name: `polder.io/dataflow`. */
  readonly controller: string;
  /** Which of its processes: host name and something random. At most 128 characters. */
  readonly instance: string;
}

const LONGEST_WORD = 128;
const LONGEST_NOTE_BYTES = 1024;
const LONGEST_NAME = 253;

/** Why the API server would refuse it; undefined if it would not. */
export function objectionTo({ reason, action }: Happening): string | undefined {
  if (!/^[A-Z][A-Za-z0-9]*$/.test(reason)) return `reason '${reason}' must be one CamelCase word`;
  if (reason.length > LONGEST_WORD) return `reason '${reason}' must have at most ${LONGEST_WORD} characters`;
  if (action === '') return `an event needs an action (reason ${reason})`;
  if (action.length > LONGEST_WORD) return `action '${action}' must have at most ${LONGEST_WORD} characters`;
  return undefined;
}

/** The same thing happening again: everything but the note and the time. */
export function seriesKey(regarding: KubernetesObject, { type, reason, action, related }: Happening): string {
  return JSON.stringify([...identityOf(regarding), type, reason, action, ...(related ? identityOf(related) : [])]);
}

/** The same object in the same trouble, whatever was done about it. */
export function similarityKey(regarding: KubernetesObject, { type, reason }: Happening): string {
  return JSON.stringify([...identityOf(regarding), type, reason]);
}

export function objectKey(regarding: KubernetesObject): string {
  return JSON.stringify(identityOf(regarding));
}

function identityOf({ apiVersion, kind, metadata }: KubernetesObject): (string | undefined)[] {
  return [apiVersion, kind, metadata.namespace, metadata.name, metadata.uid];
}

/** `suffix` makes the name unlike that of any other event. */
export function newEvent(
  regarding: KubernetesObject,
  { type, reason, action, note, related }: Happening,
  reporter: Reporter,
  at: number,
  suffix: string,
): EventsV1Event {
  const name = `${regarding.metadata.name.slice(0, LONGEST_NAME - suffix.length - 1)}.${suffix}`;
  return {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    // What has no namespace has its events in this one; kubectl looks for them there.
    metadata: { name, namespace: regarding.metadata.namespace ?? 'default' },
    eventTime: microTime(at),
    type,
    reason,
    action,
    note: cut(note),
    regarding: referenceTo(regarding),
    ...(related && { related: referenceTo(related) }),
    reportingController: reporter.controller,
    reportingInstance: reporter.instance.slice(0, LONGEST_WORD),
  };
}

function referenceTo({ apiVersion, kind, metadata }: KubernetesObject): ObjectReference {
  const { name, namespace, uid, resourceVersion } = metadata;
  return {
    apiVersion,
    kind,
    name,
    ...(namespace !== undefined && { namespace }),
    ...(uid !== undefined && { uid }),
    ...(resourceVersion !== undefined && { resourceVersion }),
  };
}

/** The limit is one of bytes; a character is never cut in two. */
function cut(note: string): string {
  const bytes = Buffer.from(note, 'utf8');
  if (bytes.length <= LONGEST_NOTE_BYTES) return note;
  const ellipsis = '...';
  let end = LONGEST_NOTE_BYTES - ellipsis.length;
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return bytes.toString('utf8', 0, end) + ellipsis;
}
