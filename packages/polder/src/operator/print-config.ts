import type { Durations, Intervals } from '@polder/kube';
import type { Configurable, OperatorConfig } from './config.ts';
import { describeDuration } from './durations.ts';
import { SHARED, sharedIntervals } from './intervals.ts';

/** The whole configuration as YAML: what may be said, what it means, and what it is now. Valid as a configuration. */
export function printConfig(products: readonly Configurable[], config: OperatorConfig): string {
  return [
    '# The configuration of polder operator: polder operator --config FILE.',
    '# What is left out keeps its default.',
    '',
    '# How long things may take, are waited for, or are apart: 500ms, 5s, 1m30s.',
    'intervals:',
    '  # What all products share.',
    ...group(SHARED, sharedIntervals, config.shared),
    ...products.flatMap(({ name, intervals }) => group(name, intervals, config.durations[name] ?? {})),
    '',
    "# Where pods and services are to be reached from here, for an operator outside the cluster's network. A pattern of",
    '# host:port, in which * stands for anything, and where that is instead; the most specific pattern wins:',
    '#   "10.244.*:9090": 127.0.0.1:19090',
    ...(config.resolve.length === 0 ? ['resolve: {}'] : ['resolve:', ...config.resolve.map(rule)]),
    '',
  ].join('\n');
}

function group(name: string, intervals: Intervals, durations: Durations): readonly string[] {
  const entries = Object.entries(intervals);
  if (entries.length === 0) return [`  ${name}: {}`];
  return [
    `  ${name}:`,
    ...entries.flatMap(([interval, { comment, default: ms }]) => [
      `    # ${comment}`,
      `    ${interval}: ${describeDuration(durations[interval] ?? ms)}`,
    ]),
  ];
}

const rule = ({ pattern, to }: OperatorConfig['resolve'][number]) =>
  `  ${JSON.stringify(pattern)}: ${JSON.stringify(to)}`;
