import { type CustomKind, crdOf } from '@polder/kube';
import { stringify } from 'yaml';

/** The definitions of all kinds, each a YAML document. Version 1.1 rules, because Kubernetes reads `on` as a boolean. */
export function crdsAsYaml(kinds: readonly CustomKind[]): string {
  return kinds.map((kind) => `---\n${stringify(crdOf(kind), { version: '1.1' })}`).join('');
}
