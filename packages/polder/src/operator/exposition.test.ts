import { expect, test } from 'vitest';
import { familiesIn, labelled, pageOf } from './exposition.ts';

const PAGE = `# HELP a_seconds How long.
# TYPE a_seconds histogram
a_seconds_bucket{le="0.1"} 1
a_seconds_bucket{le="+Inf"} 2
a_seconds_sum 0.5
a_seconds_count 2
# HELP b_total How "many".
# TYPE b_total counter
b_total{route="a == '}'",x="\\"{"} 7 1700000000000
no_head NaN
`;

test('a page is read and written without a change', () => {
  expect(familiesIn(PAGE).map(({ name }) => name)).toEqual(['a_seconds', 'b_total', 'no_head']);
  expect(
    pageOf(familiesIn(PAGE))
      .split('\n')
      .filter((line) => line !== ''),
  ).toEqual(PAGE.trim().split('\n'));
});

test('several pages become one, with each family in one place and under one head', () => {
  const families = ['one', 'other'].flatMap((pod) => familiesIn(PAGE).map((family) => labelled(family, 'pod', pod)));
  const lines = pageOf(families).split('\n');
  expect(lines.filter((line) => line.startsWith('# TYPE b_total'))).toHaveLength(1);
  const at = lines.indexOf('# TYPE b_total counter');
  expect(lines.slice(at + 1, at + 4)).toEqual([
    `b_total{pod="one",route="a == '}'",x="\\"{"} 7 1700000000000`,
    `b_total{pod="other",route="a == '}'",x="\\"{"} 7 1700000000000`,
    '',
  ]);
  expect(lines).toContain('no_head{pod="other"} NaN');
});

test.each(['<html>', 'a b c', 'a{ 1', 'a{x="1} 2', 'a 1 2 3', '{x="1"} 2', 'a{x="1"}'])(
  'what is no sample is left out: %s',
  (line) => {
    expect(pageOf(familiesIn(`${line}\ngood 1\n`))).toBe('good 1\n');
  },
);

test('a label value can not break out of its quotes', () => {
  const [family] = familiesIn('a 1');
  expect(family && labelled(family, 'pod', 'x"\\\n').samples).toEqual(['a{pod="x\\"\\\\\\n"} 1']);
});
