import { type Kind, type KubernetesObject, type Logger, silentLogger } from '@polder/kube';
import { pino } from 'pino';
import { type AppliedObject, nameOf } from '../manifests/index.ts';
import { at, type Try } from './tries.ts';

export interface ClusterFacts {
  readonly version: string;
  readonly url: string;
  readonly nodes: number;
  readonly kubeconfig: string;
  readonly folder: string;
  readonly seconds: number;
}

export interface NextSteps {
  readonly kubeconfig: string;
  readonly folder: string;
  readonly tries: readonly Try[];
  readonly hasKubectl: boolean;
}

/** What `polder up` says while it starts: sentences on a terminal, JSON lines for everybody else. */
export interface Progress {
  /** For the parts of the cluster. */
  readonly log: Logger;
  clusterIsUp(facts: ClusterFacts): void;
  applied(one: AppliedObject): void;
  ready(kind: Kind, object: KubernetesObject, because: string): void;
  /** It is waited for longer than usual. */
  notReady(kind: Kind, object: KubernetesObject, because: string): void;
  next(steps: NextSteps): void;
  everythingIsReady(): void;
  stopping(): void;
}

export function progressOn({ stdout }: NodeJS.Process): Progress {
  return stdout.isTTY ? onTerminal((text) => void stdout.write(text)) : asLog(pino({ base: null }, stdout));
}

/** Services and the like are ready when they are there: nobody needs to hear that twice. */
const SILENT = 'it is there';

/** Room for the names of most objects; what they are or did stands beside them. */
const NAME_WIDTH = 34;

export function onTerminal(say: (text: string) => void): Progress {
  // A paragraph for what was applied, and one for what has become ready.
  let paragraph = '';
  const line = (inParagraph: string, name: string, what: string) => {
    if (paragraph !== inParagraph) say('\n');
    paragraph = inParagraph;
    say(`  ${name.padEnd(NAME_WIDTH)}  ${what}\n`);
  };
  return {
    // What controllers do is to be read with kubectl (events, status); a terminal is for its reader.
    log: silentLogger,
    clusterIsUp({ version, url, nodes, seconds }) {
      const count = nodes === 1 ? 'one node' : `${nodes} nodes`;
      say(`Polder ${version}: a cluster with ${count} is ready at ${url} (${seconds.toFixed(1)} s).\n`);
    },
    applied: ({ kind, object, did }) => line('applied', nameOf(kind, object), did),
    ready(kind, object, because) {
      if (because !== SILENT) line('ready', nameOf(kind, object), because);
    },
    notReady(kind, object, because) {
      const name = nameOf(kind, object);
      line('ready', name, `${because} (kubectl describe ${name}${at(object)})`);
    },
    next(steps) {
      paragraph = '';
      say(`\n${nextSteps(steps)}`);
    },
    everythingIsReady() {},
    stopping: () => say('\nStopping. Ctrl-C again does not wait for what still runs.\n'),
  };
}

export function asLog(log: pino.Logger): Progress {
  const told = (kind: Kind, object: KubernetesObject) => ({
    object: nameOf(kind, object),
    ...(object.metadata.namespace !== undefined && { namespace: object.metadata.namespace }),
  });
  return {
    // Every step of every controller would drown the rest.
    log: log.child({}, { level: 'warn' }),
    clusterIsUp: (facts) => log.info(facts, `the cluster is ready at ${facts.url}`),
    applied: ({ kind, object, did }) => log.info(told(kind, object), `${nameOf(kind, object)} ${did}`),
    ready(kind, object, because) {
      if (because !== SILENT) log.info(told(kind, object), `${nameOf(kind, object)}: ${because}`);
    },
    notReady: (kind, object, because) =>
      log.warn(told(kind, object), `${nameOf(kind, object)} is not ready: ${because}`),
    next() {},
    everythingIsReady: () => log.info({}, 'everything is ready'),
    stopping: () => log.info({}, 'stopping'),
  };
}

function nextSteps({ kubeconfig, folder, tries, hasKubectl }: NextSteps): string {
  const width = Math.max(...tries.map(({ command }) => command.length));
  const commands = tries.map(({ command, shows }) => `  ${command.padEnd(width)}  # ${shows}\n`).join('');
  const missing = hasKubectl ? '' : ' (kubectl is not on the PATH: https://kubernetes.io/docs/tasks/tools)';
  return `Try, from another terminal${missing}:
  export KUBECONFIG=${forShell(kubeconfig)}
${commands}
Its state is in ${folder}. Ctrl-C stops it; the next start resumes.
`;
}

const forShell = (path: string) => (/^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`);
