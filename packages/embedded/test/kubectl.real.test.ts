import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject } from 'vitest';
import { embeddedServer } from './embedded-server.ts';
import { runKubectl } from './kubectl/suite.ts';

runKubectl('real', async () => ({ kubeconfig: inject('kubeconfig'), stop: async () => {} }));

runKubectl('embedded', async () => {
  const server = embeddedServer();
  const listener = await server.listen();
  const dir = mkdtempSync(join(tmpdir(), 'polder-embedded-'));
  const kubeconfig = join(dir, 'kubeconfig');
  writeFileSync(kubeconfig, listener.kubeconfig, { mode: 0o600 });
  return {
    kubeconfig,
    async stop() {
      await listener.close();
      server.close();
      rmSync(dir, { recursive: true });
    },
  };
});
