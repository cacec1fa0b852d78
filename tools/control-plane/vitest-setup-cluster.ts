/** One real control plane with everything that makes it a cluster, for all suites of the project `real-cluster`. */
import type { TestProject } from 'vitest/node';
import { provideControlPlane } from './vitest-setup.ts';

export default function setup(project: TestProject): Promise<() => Promise<void>> {
  return provideControlPlane(project, { controllers: true, nodes: 3 });
}
