import { inject, vi } from 'vitest';
import { runBlackbox } from './suite.ts';

vi.setConfig({ testTimeout: 300_000 });

async function start() {
  return { kubeconfig: inject('kubeconfig'), patience: 90_000, stop: async () => {} };
}

runBlackbox('real', start);
