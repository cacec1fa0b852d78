/** One real control plane for all suites of the project `real`. Without it they fail; they are never skipped. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { type ControlPlaneOptions, startControlPlane } from './start.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The kubeconfig of the administrator. In `real` no controller and no node is there, in `real-cluster` all are. */
    kubeconfig: string;
    /** The path of the program. */
    kubectl: string;
  }
}

export default function setup(project: TestProject): Promise<() => Promise<void>> {
  return provideControlPlane(project, {});
}

export async function provideControlPlane(
  project: TestProject,
  options: Omit<ControlPlaneOptions, 'dir'>,
): Promise<() => Promise<void>> {
  const dir = mkdtempSync(join(tmpdir(), 'polder-control-plane-'));
  const controlPlane = await startControlPlane({ ...options, dir });
  project.provide('kubeconfig', controlPlane.kubeconfig);
  project.provide('kubectl', controlPlane.bin('kubectl'));
  return () => controlPlane.stop();
}
