import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Assignment, BATCH_SIZE, type Peer } from '../jobs.ts';
import { MASKED, PAID, SELECTED, STAMP } from '../order.ts';

const program = join(import.meta.dirname, '..', '..', '..', 'polder');

export const ours: Peer = {
  name: 'Polder',
  prepare: async () => `Node ${process.version}`,
  command(assignment) {
    const spec = join(assignment.folder, 'spec.json');
    writeFileSync(spec, JSON.stringify(specOf(assignment)));
    return [program, 'processor', '--spec-path', spec, '--metrics-bind-address', `127.0.0.1:${assignment.port}`];
  },
};

const specOf = (assignment: Assignment) => ({
  source: sourceOf(assignment),
  sink: sinkOf(assignment),
  ...(assignment.job.isTransforming && {
    transformations: [
      { type: 'filter', config: { condition: `status == '${PAID}'` } },
      { type: 'mask', config: { fields: MASKED } },
      { type: 'select', config: { fields: SELECTED } },
      { type: 'timestamp', config: { fieldName: STAMP } },
    ],
  }),
});

function sourceOf({ job, broker, postgres, input, id }: Assignment) {
  return job.from === 'kafka'
    ? { type: 'kafka', config: { brokers: [broker], topic: input, consumerGroup: id } }
    : { type: 'postgresql', config: { connectionString: postgres.href, table: input } };
}

function sinkOf({ job, broker, postgres, output }: Assignment) {
  if (job.to === 'kafka') return { type: 'kafka', config: { brokers: [broker], topic: output } };
  const upsert = job.isUpsert && { upsertMode: true, conflictKey: 'id' };
  return {
    type: 'postgresql',
    config: { connectionString: postgres.href, table: output, batchSize: BATCH_SIZE, ...upsert },
  };
}
