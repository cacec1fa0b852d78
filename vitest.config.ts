import { defineConfig } from 'vitest/config';

// `unit` needs nothing but this checkout. Files named *.real.test.ts need the systems that `make test-real` builds or
// installs; a missing system is a failure there, never a skip. They meet a real API server alone (`real`), or, where
// workloads must come to life, one with controllers, scheduler and nodes (`real-cluster`), or a Kafka (`real-kafka`), or a
// Trino (`real-trino`), or a Nessie with its storage (`real-nessie`), or that storage alone (`real-s3`).
// What a project needs is started when a file of it runs.
const CLUSTER = '**/test/{workloads,blackbox}/*.real.test.ts';
const KAFKA = '**/kafka/*.real.test.ts';
const TRINO = '**/trino/*.real.test.ts';
const NESSIE = '**/{nessie,iceberg}/*.real.test.ts';
const S3 = 'packages/s3/**/*.real.test.ts';

const real = { pool: 'forks', fileParallelism: false, hookTimeout: 120_000 } as const;

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          include: ['{packages,examples,tools,bench}/**/*.test.ts'],
          exclude: ['**/node_modules/**', '**/*.real.test.ts'],
          pool: 'threads',
          // Whole clusters are simulated in some; a busy machine takes its time.
          testTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'real',
          ...real,
          include: ['{packages,examples,tools,bench}/**/*.real.test.ts'],
          exclude: ['**/node_modules/**', CLUSTER, KAFKA, TRINO, NESSIE, S3],
          globalSetup: ['tools/control-plane/vitest-setup.ts'],
          testTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'real-cluster',
          ...real,
          include: [CLUSTER],
          exclude: ['**/node_modules/**'],
          globalSetup: ['tools/control-plane/vitest-setup-cluster.ts'],
          testTimeout: 120_000,
        },
      },
      {
        test: {
          name: 'real-kafka',
          ...real,
          include: [KAFKA],
          exclude: ['**/node_modules/**'],
          globalSetup: ['tools/kafka/vitest-setup.ts'],
          testTimeout: 120_000,
        },
      },
      {
        test: {
          name: 'real-trino',
          ...real,
          include: [TRINO],
          exclude: ['**/node_modules/**'],
          globalSetup: ['tools/trino/vitest-setup.ts'],
          // A query takes a second, more on a busy machine.
          testTimeout: 300_000,
        },
      },
      {
        test: {
          name: 'real-nessie',
          ...real,
          include: [NESSIE],
          exclude: ['**/node_modules/**'],
          globalSetup: ['tools/nessie/vitest-setup.ts'],
          testTimeout: 180_000,
        },
      },
      {
        test: {
          name: 'real-s3',
          ...real,
          include: [S3],
          exclude: ['**/node_modules/**'],
          globalSetup: ['tools/nessie/vitest-setup-storage.ts'],
          testTimeout: 60_000,
        },
      },
    ],
  },
});
