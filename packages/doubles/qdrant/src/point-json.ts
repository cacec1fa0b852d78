import type { Point, PointId } from './disk.ts';
import { isObject, type Json, objectAt } from './json.ts';

/** Points as they were printed; what is none is left out. */
export const pointsOf = (list: Json | undefined): readonly Point[] =>
  (Array.isArray(list) ? list : []).flatMap((one) => {
    if (!isObject(one) || !isPointId(one['id'])) return [];
    return [{ id: one['id'], vector: one['vector'] ?? null, payload: objectAt(one, 'payload') }];
  });

const UUID = /^[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}$/i;

export const isPointId = (id: Json | undefined): id is PointId =>
  (typeof id === 'number' && Number.isInteger(id) && id >= 0) ||
  (typeof id === 'bigint' && id >= 0n) ||
  (typeof id === 'string' && UUID.test(id));
