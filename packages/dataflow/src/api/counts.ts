import type { ObjectRef } from '@polder/kube';
import { samplesIn } from './metrics-text.ts';

/** What a processor has counted since it started. */
export interface Counts {
  /** When it started, in its own words: who starts again counts from 0 again. Empty: it does not say. */
  readonly started: string;
  readonly processed: number;
  readonly errors: number;
}

const OPERATIONS = 'dataflow_task_operations_total';
const STARTED = 'process_start_time_seconds';

/**
 * What a page of metrics says of a flow; of another flow (an address is soon given to another pod) it says nothing.
 *
 * Processed is what was written where it should be; what a filter dropped is not. Errors are messages, not attempts: those
 * that the error sink took, or, where there is none, those that no transformation could be made of. With an error sink the
 * latter are among the former, only earlier; so the larger number is the true one.
 */
export function countsIn(text: string, flow: ObjectRef): Counts {
  const samples = samplesIn(text, [OPERATIONS, STARTED]);
  const operations = samples.filter(
    ({ name, labels }) =>
      name === OPERATIONS && labels.get('namespace') === flow.namespace && labels.get('name') === flow.name,
  );
  const sum = (operation: string, status: string) =>
    operations
      .filter(({ labels }) => labels.get('operation') === operation && labels.get('status') === status)
      .reduce((total, { value }) => total + value, 0);
  return {
    started: samples.find(({ name }) => name === STARTED)?.value.toString() ?? '',
    processed: sum('sink_write', 'success'),
    errors: Math.max(sum('error_sink_write', 'success'), sum('transform', 'error')),
  };
}
