/** Whether a backup fits a collection. The server takes any file for any shard, whatever the vectors in it are like. */
import type { CollectionShape } from '../api/index.ts';
import type { Manifest } from '../archive/index.ts';

/** Why it does not, with both in it; undefined if it does. `mode`: what is done to it. */
export function misfit(manifest: Manifest, shape: CollectionShape, mode: 'replace' | 'merge'): string | undefined {
  const { config, shardNumber } = manifest;
  const [theirs, ours] = [
    vectorsText(config['vectors'], config['sparse_vectors']),
    vectorsText(shape.vectors, shape.sparseVectors),
  ];
  if (theirs !== ours) return `its vectors are ${ours}, and those of the backup ${theirs}`;
  const isCustomSharded = config['sharding_method'] === 'custom';
  if (isCustomSharded !== shape.isCustomSharded)
    return `its sharding method is ${method(shape.isCustomSharded)}, and that of the backup ${method(isCustomSharded)}`;
  // Points that are written find their shards by themselves.
  if (mode === 'replace' && shape.shardNumber !== shardNumber && !isCustomSharded)
    return `it has ${shape.shardNumber} shards, and the backup ${shardNumber}`;
  return undefined;
}

const method = (isCustom: boolean) => (isCustom ? 'custom' : 'auto');

/** What can't be changed about vectors, for people and for comparison: `4 Dot`; `image: 4 Dot, text: 8 Cosine`. */
export function vectorsText(vectors: unknown, sparse: unknown): string {
  const all = fieldsOf(vectors);
  const dense = 'size' in all && typeof all['size'] === 'number' ? { '': all } : all;
  const names = [
    ...Object.entries(dense).map(([name, vector]) => (name === '' ? textOf(vector) : `${name}: ${textOf(vector)}`)),
    ...Object.keys(fieldsOf(sparse)).map((name) => `${name}: sparse`),
  ];
  return names.length === 0 ? 'none' : names.toSorted().join(', ');
}

function textOf(vector: unknown): string {
  const { size, distance, datatype, multivector_config: multi } = fieldsOf(vector);
  const parts = [size, distance, datatype === 'float32' ? undefined : datatype, fieldsOf(multi)['comparator']];
  return parts.filter((part) => typeof part === 'string' || typeof part === 'number').join(' ');
}

const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : {};

const FORBIDDEN = ['<', '>', ':', '"', '/', '\\', '|', '?', '*', '\0', '\u001f'];

/** Characters that the server refuses, and names that stop the consensus of all peers when they become a folder's. */
export function nameObjection(name: string): string | undefined {
  if (name === '.' || name === '..') return `a collection can not be called ${name}`;
  const forbidden = FORBIDDEN.find((character) => name.includes(character));
  return forbidden === undefined ? undefined : `the name of a collection can not contain ${JSON.stringify(forbidden)}`;
}
