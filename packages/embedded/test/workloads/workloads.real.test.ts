import { kubeconfig, socketTransport } from '@polder/kube';
import { inject } from 'vitest';
import { runWorkloads } from './suite.ts';
import { topics } from './topics.ts';

async function start() {
  const transport = socketTransport(await kubeconfig([inject('kubeconfig')]));
  return { transport, stop: () => transport.close(), patience: 45_000 };
}

runWorkloads('real', start, topics);
