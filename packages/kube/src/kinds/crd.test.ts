import { describe, expect, test } from 'vitest';
import { crdOf, structuralProblems } from './index.ts';
import { ClusterThing, Everything, OldClusterThing, Pipeline } from './testdata/kinds.ts';

const crd = crdOf(Pipeline);
const root = crd.spec.versions[0]?.schema?.openAPIV3Schema;

describe('the CRD of a kind', () => {
  test('is found under the name that the server asks for, with all its names', () => {
    expect(crd.metadata.name).toBe('pipelines.kinds.polder.dev');
    expect(crd.spec).toMatchObject({
      group: 'kinds.polder.dev',
      scope: 'Namespaced',
      names: {
        kind: 'Pipeline',
        listKind: 'PipelineList',
        plural: 'pipelines',
        singular: 'pipeline',
        shortNames: ['pl'],
        categories: ['polder'],
      },
    });
    expect(crdOf(ClusterThing).spec.scope).toBe('Cluster');
  });

  test('has a status of its own, a scale, columns that end with the age, and selectable fields', () => {
    expect(crd.spec.versions[0]).toMatchObject({
      subresources: { status: {}, scale: { specReplicasPath: '.spec.replicas' } },
      additionalPrinterColumns: [{ name: 'Replicas' }, { name: 'Age', jsonPath: '.metadata.creationTimestamp' }],
      selectableFields: [{ jsonPath: '.spec.delivery' }],
    });
    expect(crdOf(ClusterThing).spec.versions[0]?.subresources).toEqual({ status: {} });
    expect(crdOf(ClusterThing).spec.versions[0]).not.toHaveProperty('additionalPrinterColumns');
  });

  test('says nothing of metadata but that it is an object, and carries the rules of the whole object', () => {
    expect(root?.properties).toMatchObject({ apiVersion: { type: 'string' }, kind: { type: 'string' } });
    expect(root?.properties?.['metadata']).toEqual({ type: 'object' });
    expect(root?.required).toEqual(['spec']);
    expect(root?.['x-kubernetes-validations']).toHaveLength(1);
  });

  test('of several versions stores the first and serves them all', () => {
    const { versions } = crdOf(ClusterThing, OldClusterThing).spec;
    expect(versions.map(({ name, served, storage }) => [name, served, storage])).toEqual([
      ['v1', true, true],
      ['v1beta1', true, false],
    ]);
    expect(() => crdOf(ClusterThing, Pipeline)).toThrow(
      'clusterthings.kinds.polder.dev: kind is Pipeline in v1 and ClusterThing in v1; all versions of a kind share it',
    );
  });

  test('is structural, and knows no keyword of ours', () => {
    expect(structuralProblems(crd)).toEqual([]);
    expect(structuralProblems(crdOf(ClusterThing, OldClusterThing))).toEqual([]);
    expect(structuralProblems(crdOf(Everything))).toEqual([]);
    expect(JSON.stringify(crd)).not.toContain('x-polder');
  });
});
