/** One real control plane for all suites of the project `real`. Without it they fail; they are never skipped. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { startControlPlane } from './start.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The kubeconfig of the administrator: etcd and kube-apiserver run, controllers do not. */
    kubeconfig: string;
    /** The path of the program. */
    kubectl: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const controlPlane = await startControlPlane({ dir: mkdtempSync(join(tmpdir(), 'polder-control-plane-')) });
  project.provide('kubeconfig', controlPlane.kubeconfig);
  project.provide('kubectl', controlPlane.bin('kubectl'));
  return () => controlPlane.stop();
}
