/**
 * `node tools/openapi/generate.ts --kubeconfig FILE`: writes everything that is derived from the API of a real server.
 * The output depends on that server's version alone; it is committed, so that nobody needs one to build.
 */
import { globSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { readApi } from './api.ts';
import { ApiServer } from './api-server.ts';
import { definitionFiles, kindFacts } from './documents.ts';
import { builtinKinds } from './kinds.ts';
import { EMBEDDED_TYPES, SERVED } from './served.ts';
import { coreSchemas } from './structural.ts';
import { coreTypes } from './types.ts';

const { values } = parseArgs({ options: { kubeconfig: { type: 'string' } } });
if (values.kubeconfig === undefined) throw new Error('usage: node tools/openapi/generate.ts --kubeconfig FILE');

const api = await readApi(new ApiServer(values.kubeconfig), SERVED);
const root = join(import.meta.dirname, '../..');
const kinds = join(root, 'packages/kube/src/kinds');
const apiserver = join(root, 'packages/embedded/src/apiserver');
const definitions = join(apiserver, 'openapi');

for (const file of globSync('*.json', { cwd: definitions })) rmSync(join(definitions, file));
for (const [name, text] of definitionFiles(api)) writeFileSync(join(definitions, name), text);
writeFileSync(join(apiserver, 'builtin/facts.gen.ts'), kindFacts(api));
writeFileSync(join(kinds, 'core.gen.ts'), coreTypes(api));
writeFileSync(join(kinds, 'builtin.gen.ts'), builtinKinds(api));
writeFileSync(join(kinds, 'core-schemas.gen.ts'), coreSchemas(api, EMBEDDED_TYPES));
console.log(`${api.kinds.length} kinds, ${api.definitions.size} definitions`);
