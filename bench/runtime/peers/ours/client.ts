import { Client, kubeconfig, socketTransport } from '@polder/kube/client';

export async function clientFor(path: string): Promise<Client> {
  return new Client({ transport: socketTransport(await kubeconfig([path])), userAgent: 'polder-bench' });
}
