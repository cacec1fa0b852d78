import { createReadStream } from 'node:fs';
import { systemClock } from '@polder/kube/clock';
import { stopSignal } from '@polder/kube/signals';
import { Command, InvalidArgumentError, Option } from 'commander';
import { type BindAddress, bindAddressOf } from './bind-address.ts';
import type { OperatorFlags } from './operator/index.ts';
import type { PlanFlags } from './plan/index.ts';
import type { ProcessorOptions } from './processor/index.ts';
import { version } from './version.ts';

/** Each command loads what it needs when it is given: a processor has no use for the memory of a cluster. */
export function program(process: NodeJS.Process): Command {
  const polder = new Command('polder')
    .description('Runs a data platform from declarations, on one machine or on Kubernetes.')
    .version(version, '--version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand(false)
    .showHelpAfterError('(polder --help lists the commands)');

  polder
    .command('up')
    .description('start an embedded cluster on this machine and keep it running until Ctrl-C')
    .option('--data-dir <dir>', 'where the cluster keeps its state, its volumes and its kubeconfig', '.polder')
    .option('-f, --filename <path>', 'apply this manifest, or all of this folder; can be given again', collect, [])
    .option('--nodes <count>', 'how many nodes the cluster has', nodes, 1)
    .option('--port <port>', 'the port of the API server on 127.0.0.1 (default: a free one)', port)
    .option('--no-operator', 'the cluster alone, without the operators of the products')
    .action(({ filename, operator: hasOperators, ...options }: UpFlags) =>
      run(process, async () => {
        const { up } = await import('./up/up.ts');
        const { loadProducts } = await import('./products.ts');
        const products = hasOperators ? await loadProducts() : [];
        await up({ ...options, manifests: filename, products }, process);
      }),
    );

  polder
    .command('processor')
    .description('run one DataFlow: read, transform and write until SIGTERM, and lose nothing')
    .option('--spec-path <file>', 'the spec, as JSON; a secrets.json beside it is joined', '/etc/dataflow/spec.json')
    .option('--namespace <name>', 'the namespace of the DataFlow, for metrics and logs', 'default')
    .option('--name <name>', 'its name', 'dataflow')
    .option('--checkpoint <file>', 'where to keep how far a source that is polled was read')
    .addOption(
      new Option('--checkpoint-configmap <name>', 'keep that in this ConfigMap of the namespace instead').conflicts(
        'checkpoint',
      ),
    )
    .addOption(address('--metrics-bind-address <address>', 'where metrics and probes are served', ':9090'))
    .action((options: ProcessorOptions) =>
      run(process, async () => {
        // Before the rest is loaded: one that is told to stop meanwhile ends as it should.
        const stop = stopSignal(process);
        try {
          const { processor } = await import('./processor/index.ts');
          await processor(options, process.env, stop.signal);
        } finally {
          stop.dispose();
        }
      }),
    );

  polder
    .command('operator')
    .description('run the operators of products on a cluster until SIGTERM')
    .addOption(new Option('--products <names>', 'which ones, separated by commas').argParser(list).default([], 'all'))
    .option('--kubeconfig <file>', 'the cluster (default: KUBECONFIG, ~/.kube/config, or the pod it runs in)')
    .addOption(
      new Option('--namespace <name>', 'look after this namespace alone; can be given again')
        .argParser(collect)
        .default([], 'all'),
    )
    .addOption(
      new Option(
        '--secret-namespace <name>',
        'let every DataFlow use the Secrets of this namespace; can be given again',
      )
        .argParser(collect)
        .default([], 'none but its own'),
    )
    .option('--inline-secrets', 'put the values of secrets into the ConfigMaps of DataFlows, in clear text')
    .option('--config <file>', 'intervals and addresses, as YAML; see --print-config')
    .option('--print-config', 'print the whole configuration with its defaults and what they mean, and end')
    .addOption(address('--metrics-bind-address <address>', 'where /metrics is served', ':9090'))
    .addOption(address('--health-probe-bind-address <address>', 'where /healthz and /readyz are served', ':9091'))
    .addOption(
      new Option(
        '--api-bind-address <address>',
        'where the Qdrant API is served, if API_TOKEN is set; without a host, on 127.0.0.1 (default: ":8081", or the port API_PORT)',
      ).argParser(addressText),
    )
    .option(
      '--webhook <target>',
      'check resources before they are stored. Where the API server finds us: a Service NAME[:PORT], or https://HOST:PORT',
    )
    .addOption(address('--webhook-bind-address <address>', 'where webhooks are served', ':9443'))
    .action((flags: OperatorFlags) =>
      run(process, async () => {
        const { operator } = await import('./operator/index.ts');
        const { knownProducts } = await import('./products.ts');
        await operator(flags, knownProducts, process);
      }),
    );

  polder
    .command('validate')
    .description('tell everything that is wrong with the DataFlows in these files')
    .requiredOption('-f, --filename <path>', 'a manifest, or a folder of them; can be given again', collect, [])
    .action(({ filename }: { readonly filename: readonly string[] }) =>
      run(process, async () => {
        const { validateFlows } = await import('./flows/index.ts');
        const [out, err] = [lineTo(process.stdout), lineTo(process.stderr)];
        if (!(await validateFlows(filename, { out, err }))) process.exitCode = 1;
      }),
    );

  polder
    .command('try')
    .description('show what the transformations of a DataFlow make of messages, without connecting to anything')
    .requiredOption('-f, --filename <path>', 'the manifest of the DataFlow')
    .option('--input <file>', 'one message on each line (default: standard input)')
    .option('--envelope', 'a line is {"data":…,"metadata":{…}}', false)
    .action(({ input, ...options }: TryFlags) =>
      run(process, async () => {
        const { tryFlow } = await import('./flows/index.ts');
        const source = {
          input: input === undefined ? process.stdin : createReadStream(input),
          inputName: input ?? 'input',
        };
        await tryFlow({ ...options, ...source }, systemClock, lineTo(process.stdout));
      }),
    );

  polder
    .command('plan')
    .description('show what applying these files would create, change, delete and restart, without doing it')
    .requiredOption('-f, --filename <path>', 'a manifest, or a folder of them; can be given again', collect, [])
    .option('--kubeconfig <file>', 'the cluster (default: KUBECONFIG, ~/.kube/config, or the pod it runs in)')
    .option('--config <file>', 'the configuration of the operator')
    .addHelpText('after', '\nExit code: 0 if nothing would be done, 2 if something would, 1 if that is not known.')
    .action((flags: PlanFlags) =>
      run(process, async () => {
        const { plan } = await import('./plan/index.ts');
        const { loadProducts } = await import('./products.ts');
        if (await plan(flags, await loadProducts(), process)) process.exitCode = 2;
      }),
    );

  polder
    .command('crds')
    .description('print the CustomResourceDefinitions of all kinds, as YAML for kubectl apply -f -')
    .action(() =>
      run(process, async () => {
        const [{ crdsAsYaml }, { loadProducts }] = await Promise.all([import('./crds.ts'), import('./products.ts')]);
        process.stdout.write(crdsAsYaml((await loadProducts()).flatMap(({ kinds }) => kinds)));
      }),
    );

  return polder;
}

interface TryFlags {
  readonly filename: string;
  readonly input?: string;
  readonly envelope: boolean;
}

const lineTo = (stream: NodeJS.WriteStream) => (line: string) => void stream.write(`${line}\n`);

interface UpFlags {
  readonly dataDir: string;
  readonly filename: readonly string[];
  readonly nodes: number;
  readonly port?: number;
  readonly operator: boolean;
}

/** What goes wrong is told in one sentence; a stack trace would only hide it. */
async function run(process: NodeJS.Process, command: () => Promise<unknown>): Promise<void> {
  try {
    await command();
  } catch (error) {
    process.stderr.write(`polder: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  }
}

/** Without a host, on loopback: what is to be seen from outside is told so. */
const address = (flags: string, description: string, usual: string) =>
  new Option(flags, `${description}; without a host, on 127.0.0.1`)
    .argParser(bindAddress)
    .default(bindAddress(usual), usual);

function bindAddress(text: string): BindAddress {
  const address = bindAddressOf(text);
  if (!address) throw new InvalidArgumentError('an address is host:port or :port.');
  return address;
}

/** As it was written, for the environment. */
function addressText(text: string): string {
  bindAddress(text);
  return text;
}

function port(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > 65_535) {
    throw new InvalidArgumentError('a port is a whole number from 1 to 65535.');
  }
  return value;
}

function nodes(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > 100) {
    throw new InvalidArgumentError('a cluster has from 1 to 100 nodes.');
  }
  return value;
}

const list = (text: string) =>
  text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');

const collect = (value: string, before: readonly string[]) => [...before, value];
