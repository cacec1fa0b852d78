import { Deployment, type KubernetesObject, PodDisruptionBudget, Service } from '@polder/kube';
import { beforeEach, describe, expect, test } from 'vitest';
import { onTerminal, type Progress } from './progress.ts';

let text: string;
let progress: Progress;
beforeEach(() => {
  text = '';
  progress = onTerminal((said) => {
    text += said;
  });
});

const object = (kind: string, name: string, namespace = 'default'): KubernetesObject => ({
  apiVersion: 'v1',
  kind,
  metadata: { name, namespace },
});
const hello = object('Deployment', 'hello');
const places = { kubeconfig: '/data/kubeconfig', folder: '/data' };
const tries = [
  { command: 'kubectl get pods', shows: 'what runs' },
  { command: 'kubectl logs -f deployment/hello', shows: 'what it writes' },
];

describe('a terminal', () => {
  test('is told what was applied, what has become ready and how to go on', () => {
    progress.clusterIsUp({ ...places, version: '1.2.3', url: 'https://127.0.0.1:1', nodes: 1, seconds: 0.26 });
    progress.applied({ kind: Deployment, object: hello, did: 'created' });
    progress.applied({ kind: PodDisruptionBudget, object: object('PodDisruptionBudget', 'web'), did: 'unchanged' });
    progress.applied({ kind: Service, object: object('Service', 'hello'), did: 'created' });
    progress.ready(Service, object('Service', 'hello'), 'it is there');
    progress.ready(Deployment, hello, '2 of 2 pods are ready');
    progress.next({ ...places, tries, hasKubectl: true });
    progress.everythingIsReady();
    progress.stopping();
    expect(text).toBe(`Polder 1.2.3: a cluster with one node is ready at https://127.0.0.1:1 (0.3 s).

  deployment.apps/hello               created
  poddisruptionbudget.policy/web      unchanged
  service/hello                       created

  deployment.apps/hello               2 of 2 pods are ready

Try, from another terminal:
  export KUBECONFIG=/data/kubeconfig
  kubectl get pods                  # what runs
  kubectl logs -f deployment/hello  # what it writes

Its state is in /data. Ctrl-C stops it; the next start resumes.

Stopping. Ctrl-C again does not wait for what still runs.
`);
  });

  test('is told where to look when something does not become ready, and when it does after all', () => {
    progress.notReady(Deployment, object('Deployment', 'slow', 'shop'), '0 of 2 pods are ready');
    progress.next({ ...places, tries, hasKubectl: true });
    progress.ready(Deployment, object('Deployment', 'slow', 'shop'), '2 of 2 pods are ready');
    expect(text).toContain('0 of 2 pods are ready (kubectl describe deployment.apps/slow -n shop)\n\nTry, ');
    expect(text).toMatch(/the next start resumes\.\n\n {2}deployment\.apps\/slow +2 of 2 pods are ready\n$/);
  });

  test('is told where kubectl is to be had if it is missing', () => {
    progress.next({ ...places, tries, hasKubectl: false });
    expect(text).toContain('(kubectl is not on the PATH: https://kubernetes.io/docs/tasks/tools):\n');
  });

  test('is given a path that its shell understands', () => {
    progress.next({ kubeconfig: "/it's here/kubeconfig", folder: '/x', tries, hasKubectl: true });
    expect(text).toContain(String.raw`export KUBECONFIG='/it'\''s here/kubeconfig'`);
  });
});
