import { expect, test } from 'vitest';
import { countsIn } from './counts.ts';
import { samplesIn } from './metrics-text.ts';

const flow = { namespace: 'shop', name: 'orders' };
const operation = (operation: string, status: string, value: number, name = 'orders') =>
  `dataflow_task_operations_total{namespace="shop",name="${name}",operation="${operation}",status="${status}"} ${value}`;

test('a page of metrics is read line by line; what is none, or of another name, is passed over', () => {
  const text = [
    '# HELP up Whether it is up.',
    '# TYPE up gauge',
    'up 1',
    '',
    'sent_total{route="$.a == \\"b\\"",back="\\\\n",line="a\\nb",brace="}"} 1.5e3 1767225600000',
    'broken{',
    'never NaN',
    'upper 2',
    'other_total 3',
  ].join('\n');
  expect(samplesIn(text, ['up', 'sent_total', 'broken', 'never'])).toEqual([
    { name: 'up', labels: new Map(), value: 1 },
    {
      name: 'sent_total',
      labels: new Map([
        ['route', '$.a == "b"'],
        ['back', '\\n'],
        ['line', 'a\nb'],
        ['brace', '}'],
      ]),
      value: 1_500,
    },
  ]);
});

test('what was written to the main sink and to routes is processed; what the error sink took is an error', () => {
  const text = [
    'process_start_time_seconds 1767225600.5',
    operation('write', 'success', 12),
    operation('sink_write', 'success', 10),
    operation('sink_write', 'error', 99),
    operation('error_sink_write', 'success', 2),
    operation('transform', 'error', 1),
  ].join('\n');
  expect(countsIn(text, flow)).toEqual({ started: '1767225600.5', processed: 10, errors: 2 });
});

test('without an error sink, what could not be transformed is an error', () => {
  expect(countsIn(operation('transform', 'error', 3), flow)).toEqual({ started: '', processed: 0, errors: 3 });
});

test('what another flow counts is not ours: addresses are given to other pods', () => {
  expect(countsIn(operation('sink_write', 'success', 10, 'payments'), flow).processed).toBe(0);
});
