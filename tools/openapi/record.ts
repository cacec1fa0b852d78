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

const server = new ApiServer(values.kubeconfig);
const { kinds } = await readApi(server, SERVED);
const samples = join(import.meta.dirname, 'samples');
const apiserver = join(import.meta.dirname, '../../packages/embedded/src/apiserver');

await send('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } });
// Pods are refused until the controller manager has made the namespace's service account.
while ((await server.send('GET', `/api/v1/namespaces/${NAMESPACE}/serviceaccounts/default`, {})).status === 404);

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
  const before = stored && (await send('POST', collectionOf(stored), stored));
  if (before && before.status !== 201) throw new Error(`${promise}: ${before.text}`);
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
  const answer = await send('POST', collectionOf(sent), sent);
  if (answer.status !== 201) throw new Error(`${sent.kind} ${sent.metadata.name}: ${answer.text}`);
  if (sent.status !== undefined) {
    const patch = JSON.stringify({ status: sent.status });
    await server.send('PATCH', `${object}/status`, { 'content-type': 'application/merge-patch+json' }, patch);
  }
  const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
  const table = await server.send('GET', `${object}?includeObject=Object`, { accept });
  await server.send('DELETE', `${object}?gracePeriodSeconds=0`, {});
  shown.push(JSON.stringify({ now: table.date, table: tidy(table.text) }));
}
writeLines(join(apiserver, 'tables/shown.gen.json'), shown);

await server.send('DELETE', `/api/v1/namespaces/${NAMESPACE}`, {});
console.log(`${accepted.length} accepted, ${refused.length} refused, ${shown.length} shown`);

/** Leaves out what differs from run to run and says nothing. */
function tidy(text: string): unknown {
  const uid = /"uid": ?"([0-9a-f-]{36})"/.exec(text)?.[1];
  const stable = uid === undefined ? text : text.replaceAll(uid, '00000000-0000-4000-8000-000000000000');
  return JSON.parse(stable, (key, value: unknown) =>
    ['managedFields', 'resourceVersion', 'description'].includes(key) ? undefined : value,
  );
}

function send(method: string, path: string, body: Sample): Promise<Answer> {
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
