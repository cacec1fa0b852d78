/**
 * The hash by which Kafka's own clients choose a partition: MurmurHash2 of 32 bits, with their seed. The client's is the same in
 * big integers, which takes a microsecond for a short key and, since they grow, the square of the length for a long one.
 */
export function murmur2(bytes: Buffer): number {
  const { length } = bytes;
  const tail = length & ~3;
  let hash = SEED ^ length;
  for (let at = 0; at < tail; at += 4) {
    let word = Math.imul(bytes.readInt32LE(at), M);
    word = Math.imul(word ^ (word >>> 24), M);
    hash = Math.imul(hash, M) ^ word;
  }
  if (tail < length) {
    for (let at = tail; at < length; at++) hash ^= (bytes[at] ?? 0) << (8 * (at - tail));
    hash = Math.imul(hash, M);
  }
  hash = Math.imul(hash ^ (hash >>> 13), M);
  return hash ^ (hash >>> 15);
}

const SEED = 0x97_47_b2_8c;
const M = 0x5b_d1_e9_95;
