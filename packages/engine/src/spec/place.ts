/** Where in a spec a value is: as people read it, and as programs find it again. */
export interface Place {
  /** `spec.source.kafka.brokers[0]` */
  readonly field: string;
  /** `/source/kafka/brokers/0`: a JSON pointer from the spec on. */
  readonly pointer: string;
}

export const ROOT: Place = { field: 'spec', pointer: '' };

export function childOf(place: Place, name: string): Place {
  const isPlain = /^[\w-]+$/.test(name);
  return { field: isPlain ? `${place.field}.${name}` : `${place.field}[${name}]`, pointer: pointerTo(place, name) };
}

/** An entry of a list or of a map. */
export function entryOf(place: Place, key: number | string): Place {
  return { field: `${place.field}[${key}]`, pointer: pointerTo(place, String(key)) };
}

const pointerTo = (place: Place, segment: string) =>
  `${place.pointer}/${segment.replaceAll('~', '~0').replaceAll('/', '~1')}`;
