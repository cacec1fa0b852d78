import fc from 'fast-check';
import { expect, test } from 'vitest';
import { linesOf } from './lines.ts';

async function linesIn(chunks: readonly Uint8Array[]): Promise<string[]> {
  async function* stream() {
    yield* chunks;
  }
  const lines: string[] = [];
  for await (const batch of linesOf(stream())) lines.push(...batch.map((line) => line.toString('utf8')));
  return lines;
}

test('lines are the same however the stream was cut, also inside a character', async () => {
  const line = fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll('\n', ' '));
  await fc.assert(
    fc.asyncProperty(fc.array(line, { minLength: 1 }), fc.array(fc.nat(200)), async (lines, cuts) => {
      const bytes = Buffer.from(`${lines.join('\n')}\n`);
      const places = [0, ...cuts.map((cut) => cut % bytes.length).toSorted((a, b) => a - b), bytes.length];
      const chunks = places.slice(1).map((end, i) => bytes.subarray(places[i], end));
      expect(await linesIn(chunks)).toEqual(lines);
    }),
  );
});

test('a last line without an end is a line, and U+2028 is no end', async () => {
  expect(await linesIn([Buffer.from('a\u2028b\nc')])).toEqual(['a\u2028b', 'c']);
});
