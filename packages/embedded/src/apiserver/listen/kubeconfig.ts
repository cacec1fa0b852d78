import { stringify } from 'yaml';

/** The text of a kubeconfig that reaches the server: what `kubectl --kubeconfig` wants. */
export function kubeconfigOf(server: { readonly url: string; readonly ca: string; readonly token: string }): string {
  const name = 'embedded';
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': name,
    clusters: [
      {
        name,
        cluster: { server: server.url, 'certificate-authority-data': Buffer.from(server.ca).toString('base64') },
      },
    ],
    users: [{ name, user: { token: server.token } }],
    contexts: [{ name, context: { cluster: name, user: name } }],
  });
}
