/** One real S3 server for all suites of the project `real-s3`. Without it they fail; they are never skipped. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { type StorageAddresses, startStorage } from './storage.ts';

declare module 'vitest' {
  interface ProvidedContext {
    s3: StorageAddresses;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dir = mkdtempSync(join(tmpdir(), 'polder-s3-'));
  const storage = await startStorage({ dir: join(dir, 'buckets') });
  project.provide('s3', storage.addresses);
  return async () => {
    await storage.stop();
    rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
  };
}
