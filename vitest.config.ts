import { defineConfig } from 'vitest/config';

// Two suites: `unit` needs nothing but this checkout; `real` (files named *.real.test.ts) needs the systems that
// `make test-real` builds or installs. A missing system is a failure there, never a skip.
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          include: ['{packages,examples,tools,bench}/**/*.test.ts'],
          exclude: ['**/node_modules/**', '**/*.real.test.ts'],
          pool: 'threads',
          testTimeout: 20_000,
        },
      },
      {
        test: {
          name: 'real',
          include: ['{packages,examples,tools,bench}/**/*.real.test.ts'],
          exclude: ['**/node_modules/**'],
          globalSetup: ['tools/control-plane/vitest-setup.ts'],
          pool: 'forks',
          fileParallelism: false,
          testTimeout: 60_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});
