import { join } from 'node:path';
import { DataFlow } from '@polder/dataflow';
import { ConfigMap, Deployment, Role, RoleBinding, Secret, ServiceAccount } from '@polder/kube';
import { startServer } from '../operator/pod-server.ts';
import { at, type Subject } from '../operator/subject.ts';

const nameOf = (flow: number) => `flow-${flow}`;
const deploymentOf = (flow: number) => at(`dataflow-${nameOf(flow)}`);

/** One with all that a flow of one processor can have: a Secret, a checkpoint and the right to write it. */
const specOf = (flow: number) => ({
  source: {
    type: 'postgresql',
    config: { connectionStringSecretRef: { name: 'database', key: 'url' }, table: `table_${flow}` },
  },
  sink: { type: 'kafka', config: { brokers: ['kafka:9092'], topic: `topic-${flow}` } },
  transformations: [{ type: 'snakeCase', config: {} }],
});

export const flows: Subject = {
  product: 'dataflow',
  each: 'flow',
  kinds: [DataFlow],
  children: [ConfigMap, Secret, ServiceAccount, Role, RoleBinding, Deployment],
  env: { PROCESSOR_IMAGE: 'example.com/processor:1' },
  async prepare(client) {
    const data = { url: Buffer.from('postgres://db').toString('base64') };
    await client.create(Secret, { metadata: at('database'), data });
  },
  async create(client, flow) {
    await client.create(DataFlow, { metadata: at(nameOf(flow)), spec: specOf(flow) });
  },
  awaited: [{ kind: DataFlow, times: 1, isReady: ({ status }: DataFlow) => status?.phase === 'Running' }],
  drift: {
    what: 'changing a Deployment',
    async change(client, flow) {
      const body = { spec: { revisionHistoryLimit: 7 } };
      await client.patch(Deployment, deploymentOf(flow), { type: 'merge', body });
    },
    isUndone: async (client, flow) =>
      (await client.get(Deployment, deploymentOf(flow))).spec?.revisionHistoryLimit !== 7,
  },
  servePods: () => startServer(join(import.meta.dirname, 'processors.ts'), 9090),
};
