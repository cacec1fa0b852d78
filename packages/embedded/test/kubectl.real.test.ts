import { inject } from 'vitest';
import { runKubectl } from './kubectl/suite.ts';

runKubectl('real', async () => ({ kubeconfig: inject('kubeconfig'), stop: async () => {} }));
