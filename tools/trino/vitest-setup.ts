/** One real Trino for all suites of the project `real-trino`. Without it they fail; they are never skipped. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { startTrino, type TrinoAddresses } from './start.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Shared by all suites: those that restart the server start one of their own. */
    trino: TrinoAddresses;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const trino = await startTrino({ dir: mkdtempSync(join(tmpdir(), 'polder-trino-')) });
  project.provide('trino', trino.addresses);
  return () => trino.stop();
}
