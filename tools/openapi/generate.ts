/**
 * `make openapi`: starts a real API server and writes everything that is derived from its API. The output depends on that
 * server's version alone; it is committed, so that nobody needs one to build.
 */
import { globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startControlPlane } from '../control-plane/start.ts';
import { readApi } from './api.ts';
import { ApiServer } from './api-server.ts';
import { DEFINITIONS, generatedFiles } from './files.ts';
import { SERVED } from './served.ts';

const root = join(import.meta.dirname, '../..');
const controlPlane = await startControlPlane({ dir: mkdtempSync(join(tmpdir(), 'polder-openapi-')) });
const server = await ApiServer.of(controlPlane.kubeconfig);
const api = await readApi(server, SERVED);
await server.close();
await controlPlane.stop();
for (const file of globSync(`${DEFINITIONS}/*.json`, { cwd: root })) rmSync(join(root, file));
for (const [file, text] of generatedFiles(api)) writeFileSync(join(root, file), text);
console.log(`${api.kinds.length} kinds, ${api.definitions.size} definitions`);
