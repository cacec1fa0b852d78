import { describe, expect, it } from 'vitest';
import { missing } from './figure.ts';
import { missed, type Row, tableOf } from './table.ts';

const memory: Row = {
  what: 'memory',
  unit: 'MB',
  digits: 0,
  better: 'less',
  target: 110,
  figures: [100, 250, missing('n/a')],
};
const rate: Row = { what: 'queue', unit: 'M/s', digits: 2, better: 'more', target: 0.5, figures: [0.6, 0.15, 1.2] };

describe('the table', () => {
  it('shows every number and, beside those of the peers, how many times worse than ours it is', () => {
    expect(tableOf(['ours', 'a', 'b'], [memory, rate])).toBe(
      [
        '| what | ours | a | b | target |',
        '| --- | ---: | ---: | ---: | ---: |',
        '| memory, MB | 100 | 250 (2.5x) | n/a | <= 110 |',
        '| queue, M/s | 0.60 | 0.15 (4.0x) | 1.20 (0.5x) | >= 0.5 |',
      ].join('\n'),
    );
  });

  it('names no ratio where there is nothing to compare with', () => {
    const row: Row = { ...memory, figures: [missing('n/a'), 250] };
    expect(tableOf(['ours', 'a'], [row])).toContain('| memory, MB | n/a | 250 | <= 110 |');
  });
});

describe('the missed targets', () => {
  it('are those on the wrong side, and those without a number', () => {
    const slow: Row = { ...rate, figures: [0.4] };
    const never: Row = { ...memory, figures: [missing('never')] };
    expect(missed([memory, rate, slow, never])).toEqual([slow, never]);
  });

  it('are none where no target is set', () => {
    expect(missed([{ what: 'start', unit: 's', digits: 1, better: 'less', figures: [9] }])).toEqual([]);
  });
});
