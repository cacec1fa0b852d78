import { kubeconfig, socketTransport } from '@polder/kube';
import { inject } from 'vitest';
import { runTopics } from '../contract/suite.ts';
import { Wire } from '../contract/wire.ts';
import { Kubectl } from '../kubectl/kubectl.ts';
import { draining } from './draining.ts';
import { rollouts } from './rollouts.ts';
import { Workloads } from './workloads.ts';

runTopics('real', 'an administrator of the real cluster', [draining, rollouts], async () => {
  const transport = socketTransport(await kubeconfig([inject('kubeconfig')]));
  const world = new Workloads(new Wire(transport), 45_000);
  const kubectl = await Kubectl.open(inject('kubectl'), inject('kubeconfig'));
  return {
    world: { world, kubectl },
    async stop() {
      await kubectl[Symbol.asyncDispose]();
      await transport.close();
    },
  };
});
