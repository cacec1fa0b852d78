/** One field of a message as it is on the wire. */
export interface WireField {
  readonly number: number;
  readonly value: bigint | Uint8Array;
}

/** Takes a message apart. What a field means is not on the wire; see `messages.ts`. */
export function* fieldsIn(bytes: Uint8Array): Generator<WireField> {
  let at = 0;
  const varint = () => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++];
      if (byte === undefined) throw new Error('the message ends within a number');
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return value;
    }
  };
  const take = (length: number) => {
    if (at + length > bytes.length) throw new Error('the message ends within a field');
    at += length;
    return bytes.subarray(at - length, at);
  };
  while (at < bytes.length) {
    const tag = Number(varint());
    const number = tag >>> 3;
    switch (tag & 7) {
      case 0:
        yield { number, value: varint() };
        break;
      case 1:
        yield { number, value: take(8) };
        break;
      case 2:
        yield { number, value: take(Number(varint())) };
        break;
      case 5:
        yield { number, value: take(4) };
        break;
      default:
        throw new Error(`field ${number} has an unknown wire type`);
    }
  }
}
