import { Schema } from '../schema/schema.ts';

const string = { type: 'string' };
const texts = { type: 'object', additionalProperties: string };

/** `metadata` of every object, as far as merging goes. CRDs do not spell it out. */
export const objectMeta = new Schema({
  type: 'object',
  properties: {
    name: string,
    generateName: string,
    namespace: string,
    selfLink: string,
    uid: string,
    resourceVersion: string,
    generation: { type: 'integer' },
    creationTimestamp: { type: 'string', format: 'date-time' },
    deletionTimestamp: { type: 'string', format: 'date-time' },
    deletionGracePeriodSeconds: { type: 'integer' },
    labels: texts,
    annotations: texts,
    finalizers: { type: 'array', 'x-kubernetes-list-type': 'set', items: string },
    ownerReferences: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['uid'],
      items: {
        type: 'object',
        'x-kubernetes-map-type': 'atomic',
        properties: {
          apiVersion: string,
          kind: string,
          name: string,
          uid: string,
          controller: { type: 'boolean' },
          blockOwnerDeletion: { type: 'boolean' },
        },
      },
    },
    managedFields: { type: 'array', 'x-kubernetes-list-type': 'atomic', items: { type: 'object' } },
  },
});
