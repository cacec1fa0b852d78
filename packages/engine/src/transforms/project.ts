import { entriesOf, isArray, isEmpty, isObject, type Json, ObjectBuilder } from '../json/index.ts';
import { matchesPattern, type Segment } from './path-syntax.ts';

type Segments = readonly Segment[];

/**
 * What the paths name, with everything around it that leads there; undefined if there is nothing. Elements of arrays that
 * none names are left out.
 */
export function project(value: Json, paths: readonly Segments[]): Json | undefined {
  if (paths.some((path) => path.length === 0)) return value;
  if (isArray(value)) {
    const items = value.flatMap((item, index) => projectOne(item, paths, (segment) => isElement(segment, index)));
    return items.length > 0 ? items : undefined;
  }
  if (!isObject(value)) return undefined;
  const members = new ObjectBuilder();
  for (const [key, member] of entriesOf(value)) {
    for (const kept of projectOne(member, paths, (segment) => isMember(segment, key))) members.set(key, kept);
  }
  const built = members.build();
  return isEmpty(built) ? undefined : built;
}

/** None or one. */
function projectOne(value: Json, paths: readonly Segments[], isNamed: (first: Segment) => boolean): readonly Json[] {
  const inner = paths.filter(([first]) => first !== undefined && isNamed(first)).map((path) => path.slice(1));
  const kept = inner.length > 0 ? project(value, inner) : undefined;
  return kept === undefined ? [] : [kept];
}

const isElement = (segment: Segment, index: number): boolean =>
  segment.kind === 'each' || (segment.kind === 'key' && segment.index === index);

const isMember = (segment: Segment, key: string): boolean =>
  segment.kind === 'pattern' ? matchesPattern(segment.pattern, key) : segment.kind === 'key' && segment.key === key;
