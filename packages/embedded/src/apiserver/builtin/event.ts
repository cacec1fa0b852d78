import { isObject } from '../schema/schema.ts';
import type { WireObject } from '../served-kind.ts';
import type { Behaviour } from './behaviour.ts';
import { type Findings, invalid, required } from './field-errors.ts';
import { numberAt, objectAt, textAt, valueAt } from './fields.ts';
import { checkMicroTimes } from './micro-time.ts';
import { qualifiedName } from './names.ts';

/**
 * Events are served in two groups and stored once, in core's form: what is written to one is read from the other.
 * Field in core/v1 → field in events.k8s.io/v1.
 */
const RENAMED: readonly (readonly [string, string])[] = [
  ['involvedObject', 'regarding'],
  ['message', 'note'],
  ['reportingComponent', 'reportingController'],
  ['source', 'deprecatedSource'],
  ['firstTimestamp', 'deprecatedFirstTimestamp'],
  ['lastTimestamp', 'deprecatedLastTimestamp'],
  ['count', 'deprecatedCount'],
];

const TO_EVENTS = new Map(RENAMED);
const TO_CORE = new Map(RENAMED.map(([core, events]) => [events, core]));

/** The stored form of an event of either group. */
export function toCoreEvent(event: WireObject): WireObject {
  return renamed(event, 'v1', TO_CORE);
}

/** The same event as events.k8s.io/v1 shows it. */
export function toEventsEvent(event: WireObject): WireObject {
  return renamed(event, 'events.k8s.io/v1', TO_EVENTS);
}

function renamed(event: WireObject, apiVersion: string, names: ReadonlyMap<string, string>): WireObject {
  const entries = Object.entries(event).map(([name, value]) => [names.get(name) ?? name, value]);
  return { ...Object.fromEntries(entries), kind: event.kind, metadata: event.metadata, apiVersion };
}

export const event: Behaviour = {
  defaults: (object) => {
    checkMicroTimes(object, ['eventTime'], ['series', 'lastObservedTime']);
    return {
      ...object,
      // Go writes these out even where they are empty.
      eventTime: object['eventTime'] ?? null,
      firstTimestamp: wholeSeconds(object['firstTimestamp']),
      lastTimestamp: wholeSeconds(object['lastTimestamp']),
      reportingComponent: textAt(object, 'reportingComponent'),
      reportingInstance: textAt(object, 'reportingInstance'),
      source: objectAt(object, 'source'),
    };
  },
  *validate(object) {
    yield* validateNamespace('involvedObject', object);
    if (textAt(object, 'eventTime') !== '') yield* validateNewEvent(object, 'reportingComponent', 'message');
  },
};

export const eventsEvent: Behaviour = {
  defaults: (object) => {
    checkMicroTimes(object, ['eventTime'], ['series', 'lastObservedTime']);
    return {
      ...object,
      eventTime: object['eventTime'] ?? null,
      deprecatedFirstTimestamp: wholeSeconds(object['deprecatedFirstTimestamp']),
      deprecatedLastTimestamp: wholeSeconds(object['deprecatedLastTimestamp']),
      deprecatedSource: objectAt(object, 'deprecatedSource'),
    };
  },
  *validate(object, old) {
    yield* validateNamespace('regarding', object);
    if (old) return;
    if (textAt(object, 'eventTime') === '') yield required('eventTime');
    yield* validateNewEvent(object, 'reportingController', 'note');
    const type = textAt(object, 'type');
    // The real server puts the value into the detail and leaves the value empty.
    if (type !== 'Normal' && type !== 'Warning') yield invalid('type', '', `has invalid value: ${type}`);
  },
};

const wholeSeconds = (time: unknown) => (typeof time === 'string' ? time.replace(/\.\d+/, '') : null);

function* validateNamespace(field: string, object: WireObject): Findings {
  const involved = textAt(object, field, 'namespace');
  const own = object.metadata.namespace ?? '';
  // Events on things without a namespace are kept in the default one.
  const wanted = involved === '' ? 'default' : involved;
  if (own !== wanted && !(involved === '' && own === 'kube-system')) {
    yield invalid(`${field}.namespace`, involved, 'does not match event.namespace');
  }
}

function* validateNewEvent(object: WireObject, controller: string, message: string): Findings {
  const reporter = textAt(object, controller);
  if (reporter === '') yield required('reportingController');
  for (const problem of qualifiedName(reporter)) yield invalid('reportingController', reporter, problem);
  if (textAt(object, 'reportingInstance') === '') yield required('reportingInstance');
  if (textAt(object, 'action') === '') yield required('action');
  if (textAt(object, 'reason') === '') yield required('reason');
  for (const [field, max] of [
    ['reportingInstance', 128],
    ['action', 128],
    ['reason', 128],
    [message, 1024],
  ] as const) {
    if (textAt(object, field).length > max) yield invalid(field, '', `can have at most ${max} characters`);
  }
  const series = valueAt(object, 'series');
  if (isObject(series) && (numberAt(series, 'count') ?? 0) < 2) {
    yield invalid('series.count', '', 'should be at least 2');
  }
}
