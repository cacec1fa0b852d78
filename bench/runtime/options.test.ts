import { describe, expect, it } from 'vitest';
import { parseOptions } from './options.ts';

describe('the options of the benchmark', () => {
  it('are three runs with 10,000 pods of all peers when nothing is said', () => {
    expect(parseOptions([])).toEqual({ runs: 3, pods: 10_000, only: undefined });
  });

  it('are taken as given', () => {
    expect(parseOptions(['--runs', '1', '--pods=500', '--only', 'ours'])).toEqual({ runs: 1, pods: 500, only: 'ours' });
  });

  it.each(['0', '-1', 'many', '1.5'])('refuse %s runs and say why', (runs) => {
    expect(() => parseOptions([`--runs=${runs}`])).toThrow(
      `--runs is "${runs}"; it has to be a whole number from 1 on`,
    );
  });

  it('refuse what they do not know', () => {
    expect(() => parseOptions(['--peers', 'ours'])).toThrow('--peers');
  });
});
