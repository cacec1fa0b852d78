import { vi } from 'vitest';
import { realCluster } from '../../../../tools/blackbox/clusters.ts';
import { runBlackbox } from './suite.ts';

vi.setConfig({ testTimeout: 300_000 });

runBlackbox('real', realCluster);
