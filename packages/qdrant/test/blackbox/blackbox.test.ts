import { vi } from 'vitest';
import { embeddedCluster } from '../../../../tools/blackbox/clusters.ts';
import { runBlackbox } from './suite.ts';

// Operators are processes that start, on whatever machine.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 60_000 });

runBlackbox('embedded', embeddedCluster);
