import { readFileSync } from 'node:fs';
import { Client, socketTransport, staticConfig } from '@polder/kube/client';

/** The harness writes its kubeconfig as JSON. Read as that, no YAML parser is loaded, as none is in a pod. */
interface Kubeconfig {
  readonly clusters: readonly [
    { readonly cluster: { readonly server: string; readonly 'certificate-authority-data': string } },
  ];
  readonly users: readonly [
    { readonly user: { readonly 'client-certificate-data': string; readonly 'client-key-data': string } },
  ];
}

export function clientFor(path: string): Client {
  const { clusters, users }: Kubeconfig = JSON.parse(readFileSync(path, 'utf8'));
  const [{ cluster }] = clusters;
  const [{ user }] = users;
  const config = staticConfig({
    server: cluster.server,
    namespace: 'default',
    access: {
      ca: pem(cluster['certificate-authority-data']),
      cert: pem(user['client-certificate-data']),
      key: pem(user['client-key-data']),
    },
  });
  return new Client({ transport: socketTransport(config), userAgent: 'polder-bench' });
}

const pem = (base64: string) => Buffer.from(base64, 'base64').toString('utf8');
