import { kubeconfig, socketTransport } from '@polder/kube';
import { inject, test } from 'vitest';
import { greetingScenario } from './scenario.ts';

test('the example operator does on a real cluster what its README says', async () => {
  const transport = socketTransport(await kubeconfig([inject('kubeconfig')]));
  await greetingScenario(transport);
  await transport.close();
});
