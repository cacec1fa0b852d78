import { controller, EndpointSlice, Endpoints, Pod, Service, watch } from '@polder/kube';
import { selectorOf } from './endpoints.ts';
import { observe } from './observe.ts';
import { planEndpointSlices } from './plan.ts';
import { endpointSliceSteps } from './steps.ts';

/** Keeps for each service where its pods are reached. */
export const endpointSlices = controller({
  kind: Service,
  reportsAs: 'endpoint-slice-controller',
  owns: [EndpointSlice, Endpoints],
  watches: [
    watch(Pod, (pod, cached) => {
      const services = cached.list(Service, pod.metadata.namespace);
      return services.filter((service) => selectorOf(service)?.(pod)).map(({ metadata }) => metadata);
    }),
  ],
  observe,
  plan: planEndpointSlices,
  steps: endpointSliceSteps,
  status: 'as-planned',
});
