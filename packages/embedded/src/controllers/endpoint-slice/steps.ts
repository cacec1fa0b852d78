import { EndpointSlice, type Steps, type World } from '@polder/kube';
import type { EndpointSliceStep } from './plan.ts';

export const endpointSliceSteps: Steps<EndpointSliceStep, World> = {
  'create-slice': async ({ slice }, { cluster }) => {
    await cluster.create(EndpointSlice, slice);
  },
  'update-slice': async ({ slice }, { cluster }) => {
    await cluster.update(EndpointSlice, slice);
  },
  'delete-slice': ({ slice }, { cluster }) => cluster.delete(EndpointSlice, slice),
};
