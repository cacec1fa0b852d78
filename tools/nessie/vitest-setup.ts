/** One real Nessie for all suites of the project `real-nessie`. Without it they fail; they are never skipped. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { type NessieAddresses, startNessie } from './start.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Shared by all suites: those that kill Nessie start one of their own. */
    nessie: NessieAddresses;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const nessie = await startNessie({ dir: mkdtempSync(join(tmpdir(), 'polder-nessie-')) });
  project.provide('nessie', nessie.addresses);
  return () => nessie.stop();
}
