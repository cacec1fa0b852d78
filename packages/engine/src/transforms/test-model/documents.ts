import fc from 'fast-check';
import { key } from './paths.ts';
import { HEADERS, KEYS_OF_ROWS, type ModelMessage } from './steps.ts';
import type { Tree } from './tree.ts';

const NUMBERS = ['0', '-0', '0.0', '0.10', '1e3', '5', '1', '9007199254740993', '12345678901234567890', '-2.50'];
const TEXTS = ['', 'x', 'false', 'TRUE', '<&>', 'ë😀', '12', '+07.50', '1e2', '-3', ' 5', '.5'];
const TIMES = ['2026-07-01T10:00:00Z', '2026-01-01T10:00:00', '2026-01-01T10:00:00.250-05:00', '2026-01-01'];
const KINDS = [['null'], ['true', 'false'], NUMBERS, [...TEXTS, ...TIMES].map((one) => JSON.stringify(one))];

export const SCALARS: readonly Tree[] = KINDS.flat();

const scalar = fc.oneof(...KINDS.map((kind) => fc.constantFrom(...kind)));

export const { tree } = fc.letrec<{ tree: Tree }>((tie) => ({
  tree: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    scalar,
    fc.array(tie('tree'), { maxLength: 4 }).map((items) => ({ items })),
    fc.array(fc.tuple(key, tie('tree')), { maxLength: 3 }).map((pairs) => ({ pairs })),
    // A list as Avro writes one that may be null.
    fc.array(tie('tree'), { maxLength: 2 }).map((items): Tree => ({ pairs: [['array', { items }]] })),
  ),
}));

const object = fc.array(fc.tuple(key, tree), { maxLength: 4 }).map((pairs): Tree => ({ pairs }));

/** As Debezium tells of a row. */
const change = fc
  .record({ op: fc.constantFrom('"c"', '"u"', '"r"', '"d"', '"t"'), before: object, after: object, source: tree })
  .map(({ op, ...sides }): Tree => ({ pairs: [['payload', { pairs: [...Object.entries(sides), ['op', op]] }]] }));

export const document: fc.Arbitrary<Tree> = fc.oneof(
  { weight: 8, arbitrary: object },
  { weight: 1, arbitrary: change },
  { weight: 2, arbitrary: tree },
);

export const message: fc.Arbitrary<ModelMessage> = fc.record({
  tree: fc.oneof({ weight: 9, arbitrary: document }, { weight: 1, arbitrary: fc.constant(undefined) }),
  metadata: fc
    .tuple(fc.constantFrom(...KEYS_OF_ROWS), fc.constantFrom(HEADERS, undefined, 'none'))
    .map(([[rowKey], headers]) => ({ key: rowKey, headers })),
});
