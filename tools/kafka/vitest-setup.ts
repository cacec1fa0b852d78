/** One real Kafka for all suites of the project `real-kafka`. Without it they fail; they are never skipped. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { type KafkaAddresses, startKafka } from './start.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Shared by all suites: those that restart the broker start one of their own. */
    kafka: KafkaAddresses;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const kafka = await startKafka({ dir: mkdtempSync(join(tmpdir(), 'polder-kafka-')) });
  project.provide('kafka', kafka.addresses);
  return () => kafka.stop();
}
