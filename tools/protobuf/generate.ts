/**
 * Writes packages/embedded/src/apiserver/wire/protobuf/messages.gen.json: the numbers by which protobuf knows the fields of
 * built-in kinds, read from the tags in Kubernetes' Go types. OpenAPI does not have them, and kubectl sends protobuf.
 *
 *   node tools/protobuf/generate.ts "$(go env GOMODCACHE)"
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const API = 'k8s.io/api@v0.36.3';
const META = 'k8s.io/apimachinery@v0.36.3/pkg/apis/meta/v1';
const GROUPS = [
  'core/v1',
  'apps/v1',
  'authentication/v1',
  'authorization/v1',
  'autoscaling/v1',
  'autoscaling/v2',
  'batch/v1',
  'coordination/v1',
  'discovery/v1',
  'events/v1',
  'networking/v1',
  'policy/v1',
  'rbac/v1',
  'scheduling/v1',
  'storage/v1',
];
/** What packages are called where they are imported. */
const IMPORTS: Readonly<Record<string, string>> = {
  metav1: 'meta/v1',
  v1: 'core/v1',
  corev1: 'core/v1',
  apiv1: 'core/v1',
  api: 'core/v1',
};

const [, , modules = ''] = process.argv;
const sources = new Map([
  ['meta/v1', readFileSync(join(modules, META, 'types.go'), 'utf8')],
  ...GROUPS.map((group) => [group, readFileSync(join(modules, API, group, 'types.go'), 'utf8')] as const),
]);

/** `type PodPhase string`, `type ResourceList map[ResourceName]resource.Quantity`. */
const aliases = new Map<string, string>();
for (const [group, source] of sources) {
  for (const [, name, type] of source.matchAll(/^type (\w+) ([\w.[\]*]+)$/gm))
    aliases.set(`${group}.${name}`, type ?? '');
}
const structs = new Map<string, { group: string; body: string }>();
for (const [group, source] of sources) {
  for (const [, name, body] of source.matchAll(/^type (\w+) struct \{\n([\s\S]*?)^\}/gm)) {
    structs.set(`${group}.${name}`, { group, body: body ?? '' });
  }
}

const FIELD =
  /^\t(?:\w+\s+)?([\w.[\]*]+)\s+`json:"([^",]*)(?:,[^"]*)?"[^`]*?protobuf:"\w+,(\d+),(?:\w+,)?name=\w+[^`]*`/gm;

/** [number, name in JSON or nothing for a part of the parent, type, whether it may be absent] */
type Field = readonly [number, string, string, 0 | 1];

const messages: Record<string, readonly Field[]> = {};
for (const [name, { group, body }] of structs) {
  const fields = [...body.matchAll(FIELD)].map(([, type = '', json = '', number = '']): Field => {
    return [Number(number), json, typeOf(type.replace(/^\*/, ''), group), type.startsWith('*') ? 1 : 0];
  });
  if (fields.length > 0) messages[name] = fields;
}

/** `string`, `[]core/v1.Container`, `{}resource.Quantity` for a map of texts to quantities. */
function typeOf(type: string, group: string): string {
  const list = /^\[\](.+)$/.exec(type)?.[1];
  if (list === 'byte') return 'bytes';
  if (list !== undefined) return `[]${typeOf(list.replace(/^\*/, ''), group)}`;
  const map = /^map\[[\w.]+\](.+)$/.exec(type)?.[1];
  if (map !== undefined) return `{}${typeOf(map, group)}`;
  if (/^(string|bool|u?int\d*|float64)$/.test(type)) return type.replace(/^u?int\d*$/, 'int');
  const [first = '', second] = type.split('.');
  const full = second === undefined ? `${group}.${first}` : `${IMPORTS[first] ?? first}.${second}`;
  const alias = aliases.get(full);
  if (alias !== undefined) return typeOf(alias, full.split('.')[0] ?? group);
  return full === 'types.UID' || full === 'types.NodeName' ? 'string' : full;
}

const lines = Object.entries(messages)
  .toSorted(([a], [b]) => (a < b ? -1 : 1))
  .map(([name, fields]) => `${JSON.stringify(name)}:${JSON.stringify(fields)}`);
writeFileSync('packages/embedded/src/apiserver/wire/protobuf/messages.gen.json', `{\n${lines.join(',\n')}\n}\n`);
