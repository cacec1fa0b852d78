import { kubeconfig, socketTransport } from '@polder/kube';
import { inject } from 'vitest';
import { runWorkloads } from './suite.ts';
import { topics } from './topics.ts';

async function start() {
  const transport = socketTransport(await kubeconfig([inject('kubeconfig')]));
  // Nothing takes them longer than the pods of a node that was deleted: left alone for 40 s, looked at every 20 s.
  return { transport, stop: () => transport.close(), patience: 90_000 };
}

runWorkloads('real', start, topics);
