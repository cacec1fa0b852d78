import { Command, InvalidArgumentError } from 'commander';
import { crdsAsYaml } from './crds.ts';
import { products } from './products.ts';
import { up } from './up.ts';
import { version } from './version.ts';

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
    .option('--no-operator', 'the API server alone, without the operator')
    .option('--data-dir <dir>', 'where the cluster keeps its state and its kubeconfig', '.polder')
    .option('--port <port>', 'the port of the API server on 127.0.0.1 (default: a free one)', port)
    .action((options: UpFlags) => run(process, () => upAlone(options, process)));

  polder
    .command('crds')
    .description('print the CustomResourceDefinitions of all kinds, as YAML for kubectl apply -f -')
    .action(() => run(process, async () => process.stdout.write(crdsAsYaml(products.flatMap(({ kinds }) => kinds)))));

  return polder;
}

interface UpFlags {
  readonly operator: boolean;
  readonly dataDir: string;
  readonly port?: number;
}

async function upAlone({ operator, ...options }: UpFlags, process: NodeJS.Process): Promise<void> {
  if (operator)
    throw new Error('this version has no products to operate yet; start the API server alone: polder up --no-operator');
  await up(options, process);
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

function port(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > 65_535) {
    throw new InvalidArgumentError('a port is a whole number from 1 to 65535.');
  }
  return value;
}
