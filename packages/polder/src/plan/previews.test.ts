import { createApiServer } from '@polder/embedded';
import { Client, controller, type Product, register, silentLogger, systemClock, type World } from '@polder/kube';
import { expect, test } from 'vitest';
import { Page } from '../../test/pages.ts';
import { installCrds } from '../crds.ts';
import { applyManifests } from '../manifests/index.ts';
import { parseManifests } from '../manifests/read.ts';
import { previews } from './previews.ts';

/** A step that takes something outside the cluster away, and carries the resource in which that is, as that of a Qdrant peer does. */
type Leaving = {
  readonly do: 'remove-peer';
  readonly because: string;
  readonly via: { readonly cluster: Page; readonly pod: string };
};

const because = 'two replicas are wanted, and the last peer holds no shard';

const leaving: Product = {
  name: 'peers',
  fieldManager: 'peers',
  controllers: [
    register(
      controller({
        kind: Page,
        observe: async () => undefined,
        plan: (page: Page) => {
          const step: Leaving = { do: 'remove-peer', because, via: { cluster: page, pod: 'vectors-2' } };
          return { objects: [], steps: [step], held: [], status: {} };
        },
        steps: { 'remove-peer': async (_step: Leaving, _world: World) => {} },
      }),
    ),
  ],
};

test('a peer that leaves is a step of its cluster, and the cluster is not told to be deleted', async () => {
  const server = createApiServer();
  const signal = new AbortController().signal;
  const client = new Client({ transport: server.transport(), userAgent: 'test' });
  const tools = { client, clock: systemClock, signal };
  await installCrds([Page], tools);
  const manifest = (replicas: number) => {
    const spec = { text: '', configMap: 'a', replicas };
    return parseManifests(
      JSON.stringify({ apiVersion: 'test.polder.dev/v1', kind: 'Page', metadata: { name: 'vectors' }, spec }),
      'vectors.yaml',
    );
  };
  await applyManifests(manifest(3), { ...tools, applied: () => {} });
  const more = { random: () => 0, log: silentLogger, alsoIn: [], namespace: 'default' };
  const [forecast] = await previews(manifest(2), [leaving], { ...tools, ...more });
  expect(forecast).toMatchObject({
    itself: { fate: { is: 'changed' } },
    objects: [],
    steps: [`remove-peer: ${because}`],
  });
  server.close();
});
