import { createApiServer } from '@polder/embedded';
import { Client, systemClock } from '@polder/kube';
import { expect, test } from 'vitest';
import { installCrds } from './crds.ts';
import { applyManifests } from './manifests/index.ts';
import { parseManifests } from './manifests/read.ts';
import { defaultConfig } from './operator/index.ts';
import { planFor } from './plan/plan.ts';
import { qdrantProduct } from './qdrant.ts';

const signal = new AbortController().signal;
const tools = { clock: systemClock, signal };

const manifest = (kind: string, name: string, spec: object) =>
  `apiVersion: qdrant.operator/v1alpha1\nkind: ${kind}\nmetadata: {name: ${name}, namespace: default}\nspec: ${JSON.stringify(spec)}\n---\n`;

test('a collection can be planned, and of one that can not be it is told why', async () => {
  const server = createApiServer();
  const client = new Client({ transport: server.transport(), userAgent: 'test' });
  await installCrds(qdrantProduct.kinds, { client, ...tools });
  const planned = async (text: string) => {
    const options = { transport: server.transport(), namespace: 'default', env: {}, ...tools, random: () => 0 };
    const config = defaultConfig([qdrantProduct]);
    return (await planFor(parseManifests(text, 'points.yaml'), [qdrantProduct], { ...options, config })).text;
  };
  const points = manifest('QdrantCollection', 'points', { cluster: 'vectors', vectorSize: 4 });
  expect(await planned(points)).toContain('qdrantcollection/points created');
  const wrong = manifest('QdrantCollection', 'points', { cluster: 'vectors', vectorSize: 0 });
  expect(await planned(wrong)).toContain('spec.vectorSize is 0; it must be at least 1');
  await applyManifests(parseManifests(points, 'points.yaml'), { client, ...tools, applied: () => {} });
  expect(await planned(points)).toBe('Nothing to do.\n');
  server.close();
});
