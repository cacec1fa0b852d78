import type { Behaviour } from './behaviour.ts';
import { fill, objectAt } from './fields.ts';

const NODE_INFO = {
  architecture: '',
  bootID: '',
  containerRuntimeVersion: '',
  kernelVersion: '',
  kubeProxyVersion: '',
  kubeletVersion: '',
  machineID: '',
  operatingSystem: '',
  osImage: '',
  systemUUID: '',
};

export const node: Behaviour = {
  defaults: (object) => ({ ...object, spec: objectAt(object, 'spec') }),
  prepare: (object) => ({
    ...object,
    status: fill(objectAt(object, 'status'), {
      daemonEndpoints: { kubeletEndpoint: { Port: 0 } },
      nodeInfo: NODE_INFO,
    }),
  }),
};
