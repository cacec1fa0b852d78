import { describe, expect, test } from 'vitest';
import { defaultConfig, parseConfig } from './config.ts';
import { printConfig } from './print-config.ts';

const products = [
  {
    name: 'greetings',
    intervals: {
      repeat: { default: 90_000, comment: 'How often somebody is greeted.' },
      patience: { default: 500, comment: 'How long an answer is waited for.' },
    },
  },
  { name: 'partings', intervals: {} },
];
const parse = (text: string) => parseConfig(text, 'operator.yaml', products);
const mistakesIn = (text: string): readonly string[] => {
  try {
    parse(text);
    return [];
  } catch (error) {
    return error instanceof Error ? error.message.split('\n') : [];
  }
};

describe('the configuration', () => {
  test('changes what it names and leaves the rest as it is', () => {
    const config = parse(`
intervals:
  operator: {leaseDuration: 20s}
  greetings:
    repeat: 1m30.5s
resolve:
  "10.244.*:9090": 127.0.0.1:19090
`);
    const { shared, durations } = defaultConfig(products);
    expect(config.shared).toEqual({ ...shared, leaseDuration: 20_000 });
    expect(config.durations).toEqual({ ...durations, greetings: { repeat: 90_500, patience: 500 } });
    expect(config.resolve).toEqual([{ pattern: '10.244.*:9090', to: '127.0.0.1:19090' }]);
  });

  test.each(['', '# nothing', 'intervals:', 'intervals: {greetings: }\nresolve:'])('may say nothing: %j', (text) => {
    expect(parse(text)).toEqual(defaultConfig(products));
  });

  test('is printed with every default and a comment for each, and what is printed says the same', () => {
    const defaults = defaultConfig(products);
    const printed = printConfig(products, defaults);
    expect(printed).toContain('    # How often somebody is greeted.\n    repeat: 1m30s\n');
    expect(printed).toContain('    leaseDuration: 15s\n');
    expect(parse(printed)).toEqual(defaults);
    const changed = parse('intervals: {greetings: {patience: 7ms}}\nresolve: {"*:9090": "a:1"}');
    expect(parse(printConfig(products, changed))).toEqual(changed);
  });
});

describe('mistakes in the configuration', () => {
  test('are told all at once, each with its line and what was meant', () => {
    expect(
      mistakesIn(`
interval: {}
intervals:
  greeting: {}
  greetings:
    repat: 5s
    patience: 5
    zzz: 1s
  operator: [1]
resolve:
  host: a:1
  "a:*": b
`),
    ).toEqual([
      'operator.yaml, line 2: the configuration has no interval; did you mean intervals?',
      'operator.yaml, line 4: intervals has no greeting; did you mean greetings?',
      'operator.yaml, line 6: intervals.greetings has no repat; did you mean repeat?',
      'operator.yaml, line 7: intervals.greetings.patience is 5; a duration is longer than 0 and has units: 500ms, 5s, 1m30s',
      'operator.yaml, line 8: intervals.greetings has no zzz; known: repeat, patience',
      'operator.yaml, line 9: intervals.operator must be a map',
      'operator.yaml, line 11: resolve: host is no host:port (* stands for anything)',
      'operator.yaml, line 12: resolve: a:* is to be at b, which is no host:port',
    ]);
  });

  test.each([
    ['a: [', /^operator\.yaml, line 1: /],
    ['intervals: 5', 'operator.yaml, line 1: intervals must be a map'],
    ['intervals: {greetings: {repeat: 1s, repeat: 2s}}', /line 1: .*unique/],
    ['intervals: {greetings: {repeat: {}}}', /repeat is no text/],
    ['intervals: {greetings: {repeat: 0s}}', /longer than 0/],
    [
      'intervals: {operator: {leaseDuration: 5s}}',
      'operator.yaml: intervals.operator: the lease (5000 ms) must last longer than the renew deadline (10000 ms)',
    ],
  ])('are told: %j', (text, message) => {
    expect(mistakesIn(text)).toEqual([typeof message === 'string' ? message : expect.stringMatching(message)]);
  });
});
