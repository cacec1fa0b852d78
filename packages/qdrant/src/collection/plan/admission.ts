import type { QdrantCollection } from '../../kinds/index.ts';
import { vectorsIn } from './wanted.ts';

/** The server takes none of these in a name. */
const FORBIDDEN = ['<', '>', ':', '"', '/', '\\', '|', '?', '*', '\0', '\u001f'];
const LONGEST_NAME = 255;

/**
 * What is wrong with a name, for a collection or an alias. `.` and `..` pass every check of the server and are no folders of
 * their own on its disks: an entry that nobody can apply stops the consensus of all peers, for good.
 */
export function objectionToName(name: string): string | undefined {
  if (name === '') return 'is empty';
  if (name === '.' || name === '..') return `is ${name}, which is no name of a folder and would stop the whole cluster`;
  const character = FORBIDDEN.find((one) => name.includes(one));
  if (character !== undefined) return `is ${JSON.stringify(name)}; it must not contain ${JSON.stringify(character)}`;
  return name.length > LONGEST_NAME ? `has ${name.length} characters; it must have at most ${LONGEST_NAME}` : undefined;
}

/** Why a spec can't be: the field, its value, and the bound. */
export function problemOf({ metadata, spec }: QdrantCollection): string | undefined {
  const name = objectionToName(metadata.name);
  if (name !== undefined) return `metadata.name ${name}`;
  if (spec.cluster.trim() === '') return `spec.cluster is "${spec.cluster}"; name a QdrantCluster`;
  const { shardNumber = 1, replicationFactor = 1 } = spec;
  for (const [field, value] of Object.entries({ vectorSize: spec.vectorSize, shardNumber, replicationFactor })) {
    if (!(Number.isInteger(value) && value >= 1)) return `spec.${field} is ${value}; it must be at least 1`;
  }
  return problemOfConfig(spec) ?? problemOfAliases(metadata.name, spec.aliases ?? []) ?? problemOfIndexes(spec);
}

function problemOfConfig(spec: QdrantCollection['spec']): string | undefined {
  const { config = {}, shardKeys = [] } = spec;
  const method = config['sharding_method'];
  if (shardKeys.length > 0 && method !== undefined && method !== 'custom') {
    return `spec.config.sharding_method is ${JSON.stringify(method)}; with spec.shardKeys it must be "custom"`;
  }
  for (const key of ['shard_number', 'replication_factor', 'write_consistency_factor']) {
    const value = config[key];
    if (value === undefined || value === null || (Number.isInteger(value) && Number(value) >= 1)) continue;
    return `spec.config.${key} is ${JSON.stringify(value)}; it must be at least 1`;
  }
  for (const [name, { size }] of vectorsIn(spec)) {
    if (Number.isInteger(size) && Number(size) >= 1) continue;
    const field = name === '' ? 'spec.config.vectors.size' : `spec.config.vectors.${name}.size`;
    return `${field} is ${JSON.stringify(size)}; it must be at least 1`;
  }
  return undefined;
}

function problemOfAliases(name: string, aliases: readonly string[]): string | undefined {
  for (const alias of aliases) {
    const objection = objectionToName(alias);
    if (objection !== undefined) return `spec.aliases: ${JSON.stringify(alias)} ${objection}`;
    if (alias === name) return `spec.aliases: ${alias} is the name of the collection itself`;
  }
  return undefined;
}

function problemOfIndexes({ payloadIndexes = [] }: QdrantCollection['spec']): string | undefined {
  const types = new Map<string, string>();
  for (const { field, type } of payloadIndexes) {
    const other = types.get(field);
    if (other !== undefined && other !== type) return `spec.payloadIndexes: ${field} is both ${other} and ${type}`;
    types.set(field, type);
  }
  return undefined;
}
