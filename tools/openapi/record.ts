/**
 * `node tools/openapi/record.ts --kubeconfig FILE`: sends the objects of `samples/` to a real server and writes down what
 * it stored and what it said. The unit tests of the built-in kinds compare with that; nothing is left behind.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { parse, parseAllDocuments } from 'yaml';
import { type ApiKind, readApi } from './api.ts';
import { type Answer, ApiServer } from './api-server.ts';
import { SERVED } from './served.ts';

interface Sample {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly status?: unknown;
}

interface Refused {
  readonly promise: string;
  readonly stored?: Sample;
  readonly sent: Sample;
}

const NAMESPACE = 'kubectl-x';

const { values } = parseArgs({ options: { kubeconfig: { type: 'string' } } });
if (values.kubeconfig === undefined) throw new Error('usage: node tools/openapi/record.ts --kubeconfig FILE');

const server = await ApiServer.of(values.kubeconfig);
const { kinds } = await readApi(server, SERVED);
const samples = join(import.meta.dirname, 'samples');
const apiserver = join(import.meta.dirname, '../../packages/embedded/src/apiserver');

const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } };
const isNew = (await send('POST', '/api/v1/namespaces', namespace)).status === 201;
if (!isNew) throw new Error(`namespace ${NAMESPACE} is there: delete it, or wait until it is gone`);
// Pods are refused without it; a controller would make it later.
const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default' } };
await send('POST', `/api/v1/namespaces/${NAMESPACE}/serviceaccounts`, account);

const accepted: string[] = [];
for (const document of parseAllDocuments(readFileSync(join(samples, 'accepted.yaml'), 'utf8'))) {
  const sent: Sample = document.toJS();
  const answer = await send('POST', `${collectionOf(sent)}?dryRun=All`, sent);
  if (answer.status !== 201) throw new Error(`${sent.kind} ${sent.metadata.name}: ${answer.text}`);
  accepted.push(JSON.stringify({ sent, stored: tidy(answer.text) }));
}
writeLines(join(apiserver, 'builtin/accepted.gen.json'), accepted);

const refused: string[] = [];
const cases: readonly Refused[] = parse(readFileSync(join(samples, 'refused.yaml'), 'utf8'));
for (const { promise, stored, sent } of cases) {
  const before = stored && (await store(stored));
  const object = `${collectionOf(sent)}/${sent.metadata.name}`;
  const answer = stored
    ? await send('PUT', `${object}?dryRun=All`, sent)
    : await send('POST', `${collectionOf(sent)}?dryRun=All`, sent);
  if (stored) await server.send('DELETE', `${object}?gracePeriodSeconds=0`, {});
  const status: { readonly code?: number; readonly message: string; readonly details?: { readonly causes?: unknown } } =
    JSON.parse(answer.text);
  if (status.code === undefined) throw new Error(`${promise}: the server accepts it`);
  const says = { code: status.code, message: status.message, causes: status.details?.causes };
  refused.push(JSON.stringify({ promise, ...(before && { stored: tidy(before.text) }), sent, says }));
}
writeLines(join(apiserver, 'builtin/refused.gen.json'), refused);

const shown: string[] = [];
for (const document of parseAllDocuments(readFileSync(join(samples, 'shown.yaml'), 'utf8'))) {
  const sent: Sample = document.toJS();
  const object = `${collectionOf(sent)}/${sent.metadata.name}`;
  await store(sent);
  const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
  const table = await server.send('GET', `${object}?includeObject=Object`, { accept });
  if (table.status !== 200) throw new Error(`${sent.kind} ${sent.metadata.name}: ${table.text}`);
  await server.send('DELETE', `${object}?gracePeriodSeconds=0`, {});
  shown.push(JSON.stringify({ now: table.date, table: tidy(table.text) }));
}
writeLines(join(apiserver, 'tables/shown.gen.json'), shown);

await server.send('DELETE', `/api/v1/namespaces/${NAMESPACE}`, {});
await server.close();
console.log(`${accepted.length} accepted, ${refused.length} refused, ${shown.length} shown`);

/** Creates an object, with its status where it has one. */
async function store(sample: Sample): Promise<Answer> {
  const created = await send('POST', collectionOf(sample), sample);
  if (created.status !== 201) throw new Error(`${sample.kind} ${sample.metadata.name}: ${created.text}`);
  if (sample.status === undefined) return created;
  const path = `${collectionOf(sample)}/${sample.metadata.name}/status`;
  const patch = JSON.stringify({ status: sample.status });
  return server.send('PATCH', path, { 'content-type': 'application/merge-patch+json' }, patch);
}

/** Leaves out what differs from run to run and says nothing. */
function tidy(text: string): unknown {
  const uid = /"uid": ?"([0-9a-f-]{36})"/.exec(text)?.[1];
  const stable = uid === undefined ? text : text.replaceAll(uid, '00000000-0000-4000-8000-000000000000');
  return JSON.parse(stable, (key, value: unknown) =>
    ['managedFields', 'resourceVersion', 'description'].includes(key) ? undefined : value,
  );
}

function send(method: 'POST' | 'PUT', path: string, body: Sample): Promise<Answer> {
  return server.send(method, path, { 'content-type': 'application/json' }, JSON.stringify(body));
}

function collectionOf({ apiVersion, kind }: Sample): string {
  const found = kinds.find((candidate) => candidate.kind === kind && apiVersionOf(candidate) === apiVersion);
  if (!found) throw new Error(`${apiVersion} ${kind} is not served`);
  const root = found.group === '' ? '/api' : '/apis';
  return `${root}/${apiVersion}${found.namespaced ? `/namespaces/${NAMESPACE}` : ''}/${found.plural}`;
}

function apiVersionOf({ group, version }: ApiKind): string {
  return group === '' ? version : `${group}/${version}`;
}

function writeLines(file: string, lines: readonly string[]): void {
  writeFileSync(file, `[\n${lines.join(',\n')}\n]\n`);
}
