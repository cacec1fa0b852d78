import { inject } from 'vitest';
import { kubeconfigTransport } from './kubeconfig-transport.ts';
import { runContract } from './suite.ts';
import { topics } from './topics.ts';

async function start() {
  const transport = kubeconfigTransport(inject('kubeconfig'));
  return { transport, stop: () => transport.close() };
}

runContract('real', start, topics);
