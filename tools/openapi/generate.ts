/**
 * `node tools/openapi/generate.ts --kubeconfig FILE`: writes everything that is derived from the API of a real server.
 * The output depends on that server's version alone; it is committed, so that nobody needs one to build.
 */
import { globSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { readApi } from './api.ts';
import { ApiServer } from './api-server.ts';
import { DEFINITIONS, generatedFiles } from './files.ts';
import { SERVED } from './served.ts';

const { values } = parseArgs({ options: { kubeconfig: { type: 'string' } } });
if (values.kubeconfig === undefined) throw new Error('usage: node tools/openapi/generate.ts --kubeconfig FILE');

const root = join(import.meta.dirname, '../..');
const server = await ApiServer.of(values.kubeconfig);
const api = await readApi(server, SERVED);
await server.close();
for (const file of globSync(`${DEFINITIONS}/*.json`, { cwd: root })) rmSync(join(root, file));
for (const [file, text] of generatedFiles(api)) writeFileSync(join(root, file), text);
console.log(`${api.kinds.length} kinds, ${api.definitions.size} definitions`);
