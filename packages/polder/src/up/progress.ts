import { type Kind, type KubernetesObject, type Logger, resourceNameOf, silentLogger } from '@polder/kube';
import { pino } from 'pino';
import type { AppliedObject } from '../manifests/index.ts';

export interface ClusterFacts {
  readonly version: string;
  readonly url: string;
  readonly nodes: number;
  readonly kubeconfig: string;
  readonly folder: string;
  readonly seconds: number;
}

/** What `polder up` says while it starts: sentences on a terminal, JSON lines for everybody else. */
export interface Progress {
  readonly log: Logger;
  clusterIsUp(facts: ClusterFacts): void;
  applied(one: AppliedObject): void;
  ready(kind: Kind, object: KubernetesObject, because: string): void;
  stillWaiting(kind: Kind, object: KubernetesObject, because: string): void;
  next(facts: { readonly kubeconfig: string; readonly folder: string; readonly hasExample: boolean }): void;
  stopping(): void;
}

export function progressOn({ stdout }: NodeJS.Process): Progress {
  return stdout.isTTY ? onTerminal((text) => void stdout.write(text)) : asLog(pino(stdout));
}

const nameOf = (kind: Kind, { metadata }: KubernetesObject) => `${resourceNameOf(kind)}/${metadata.name}`;

/** Services and the like are ready when they are there: nobody needs to hear that twice. */
const SILENT = 'it is there';

export function onTerminal(say: (text: string) => void): Progress {
  let isFirst = true;
  return {
    // What controllers do is to be read with kubectl (events, status); a terminal is for its reader.
    log: silentLogger,
    clusterIsUp({ version, url, nodes, seconds }) {
      const count = nodes === 1 ? 'one node' : `${nodes} nodes`;
      say(`Polder ${version}: a cluster with ${count} is ready at ${url} (${seconds.toFixed(1)} s).\n\n`);
    },
    applied({ kind, object, did }) {
      if (isFirst) say('Applied:\n');
      isFirst = false;
      say(`  ${nameOf(kind, object)} ${did}\n`);
    },
    ready(kind, object, because) {
      if (because !== SILENT) say(`  ${nameOf(kind, object)}: ${because}\n`);
    },
    stillWaiting(kind, object, because) {
      const { namespace } = object.metadata;
      const at = namespace === undefined || namespace === 'default' ? '' : ` -n ${namespace}`;
      say(`  ${nameOf(kind, object)} is not ready: ${because}. See: kubectl describe ${nameOf(kind, object)}${at}\n`);
    },
    next({ kubeconfig, folder, hasExample }) {
      say(`${hasExample ? '\n' : ''}${whatToTry(kubeconfig, folder, hasExample)}`);
    },
    stopping: () => say('\nStopping.\n'),
  };
}

export function asLog(log: Logger): Progress {
  return {
    log,
    clusterIsUp: (facts) => log.info(facts, `the cluster is ready at ${facts.url}`),
    applied: ({ kind, object, did }) => log.info({ object: nameOf(kind, object) }, `${nameOf(kind, object)} ${did}`),
    ready: (kind, object, because) => log.info({ object: nameOf(kind, object) }, `${nameOf(kind, object)}: ${because}`),
    stillWaiting: (kind, object, because) =>
      log.warn({ object: nameOf(kind, object) }, `${nameOf(kind, object)} is not ready: ${because}`),
    next: ({ kubeconfig, folder }) => log.info({ kubeconfig, folder }, 'everything is applied'),
    stopping: () => log.info({}, 'stopping'),
  };
}

function whatToTry(kubeconfig: string, folder: string, hasExample: boolean): string {
  const tries = hasExample
    ? `  kubectl get pods -o wide                            # what runs, and how
  kubectl logs deployment/hello -f                    # what it says
  kubectl rollout restart deployment/hello && kubectl rollout status deployment/hello
  kubectl delete pod web-0 && kubectl get pods -w     # it comes back, with its volume`
    : `  kubectl create deployment hello --image=nginx --replicas=2
  kubectl get pods -o wide
  kubectl rollout status deployment/hello`;
  return `Try, from another terminal:
  export KUBECONFIG=${kubeconfig}
${tries}

Its state is in ${folder}. Ctrl-C stops it; the next start resumes.
`;
}
