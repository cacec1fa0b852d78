import { describe, expect, it } from 'vitest';
import type { Crd, CrdColumn } from './crd.ts';
import { withCrdDefaults } from './crd.ts';
import { crdKinds } from './crd-kinds.ts';
import { prune } from './prune.ts';
import { recording } from './recorded-answers.ts';
import type { JsonSchema } from './schema.ts';

const META = { uid: '1', resourceVersion: '1', creationTimestamp: '2026-11-15T23:40:00Z' };
/** When the columns were recorded: dates are shown as ages. */
const NOW = Date.parse('2026-11-15T23:45:00Z');

function thing(version: object = {}): Crd {
  return withCrdDefaults({
    metadata: { name: 'things.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'things', kind: 'Thing', shortNames: ['th'] },
      versions: [
        { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } }, ...version },
        { name: 'v0', served: false, schema: { openAPIV3Schema: { type: 'object' } } },
      ],
    },
  });
}

interface Recorded {
  readonly object: { readonly spec: object };
  readonly columns: readonly (CrdColumn & { readonly name: string; readonly cell: unknown })[];
}
const { object, columns }: Recorded = JSON.parse(recording('columns.json'));

describe('a column shows what the real server shows', () => {
  it.each(columns)('$name', ({ jsonPath, type, cell }) => {
    const [kind] = crdKinds(thing({ additionalPrinterColumns: [{ name: 'C', jsonPath, type }] }));
    const whole = { apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name: 'a', ...META }, ...object };
    expect(kind?.columns[0]?.cell(whole, NOW)).toEqual(cell);
  });

  it('is the age when the definition names none', () => {
    const [kind] = crdKinds(thing());
    const [age] = kind?.columns ?? [];
    expect(age).toMatchObject({ name: 'Age', type: 'date', priority: 0 });
    expect(age?.cell({ apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name: 'a', ...META } }, NOW)).toBe(
      '5m',
    );
  });
});

describe('the kinds of a definition', () => {
  it('are those of its served versions, with the names that defaulting made', () => {
    const kinds = crdKinds(thing());
    expect(kinds.map(({ version }) => version)).toEqual(['v1']);
    expect(kinds[0]).toMatchObject({ singular: 'thing', listKind: 'ThingList', namespaced: true, origin: 'custom' });
  });

  it('refuse replicas that scale could not read', () => {
    const scale = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' };
    const [kind] = crdKinds(thing({ subresources: { status: {}, scale } }));
    expect(kind?.subresources).toEqual({ status: true, scale });
    const negative = { apiVersion: 'v1', kind: 'Thing', metadata: { name: 'a', ...META }, spec: { replicas: -1 } };
    expect(kind?.validate?.(negative, undefined)).toMatchObject([{ field: '.spec.replicas', value: -1 }]);
  });

  it('know the metadata that all objects have, and what the author narrowed in it', () => {
    const meta: JsonSchema = { type: 'object', properties: { name: { type: 'string' }, labels: { type: 'object' } } };
    const definitions = new Map([['io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta', meta]]);
    const name = { type: 'string', maxLength: 5 };
    const openAPIV3Schema = { type: 'object', properties: { metadata: { type: 'object', properties: { name } } } };
    for (const version of [{}, { schema: { openAPIV3Schema } }]) {
      const schema = crdKinds(thing(version), definitions)[0]?.schema;
      const { unknown } = schema
        ? prune(schema, { kind: 'Thing', metadata: { name: 'a', bogus: 1 } })
        : { unknown: [] };
      expect(unknown).toEqual(['metadata.bogus']);
    }
    expect(
      crdKinds(thing({ schema: { openAPIV3Schema } }), definitions)[0]
        ?.schema.property('metadata')
        ?.property('name')?.node,
    ).toEqual(name);
  });
});
