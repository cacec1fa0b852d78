import { spawn } from 'node:child_process';
import type { Clock } from '../clock/index.ts';
import { ConfigError } from './config.ts';

/** The `exec` block of a kubeconfig user: a program that prints credentials. Cloud providers log in this way. */
export interface ExecBlock {
  readonly apiVersion: string;
  readonly command: string;
  readonly args?: readonly string[] | null;
  readonly env?: readonly { readonly name: string; readonly value: string }[] | null;
  readonly installHint?: string;
  readonly provideClusterInfo?: boolean;
}

export interface ExecCredential {
  readonly token?: string;
  readonly clientCertificateData?: string;
  readonly clientKeyData?: string;
  readonly expirationTimestamp?: string;
}

const API_VERSIONS = ['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1'];

/** Credentials are renewed a little before they end, so that none expires between here and the server. */
const RENEW_BEFORE_MS = 10_000;

/** Runs the program when there are no credentials yet, when they end, and after `forget`; one run at a time. */
export function execCredentials(exec: ExecBlock, cluster: object, clock: Clock) {
  if (!API_VERSIONS.includes(exec.apiVersion)) {
    throw new ConfigError(
      `exec plugin ${exec.command}: apiVersion ${exec.apiVersion} is not ${API_VERSIONS.join(' or ')}`,
    );
  }
  let current: Promise<ExecCredential> | undefined;
  let endsAt = Number.POSITIVE_INFINITY;
  return {
    get(): Promise<ExecCredential> {
      if (clock.now() >= endsAt - RENEW_BEFORE_MS) current = undefined;
      current ??= run(exec, cluster).then(
        (credential) => {
          const ends = credential.expirationTimestamp;
          endsAt = ends === undefined ? Number.POSITIVE_INFINITY : Date.parse(ends);
          return credential;
        },
        (error: unknown) => {
          current = undefined;
          throw error;
        },
      );
      return current;
    },
    forget() {
      current = undefined;
    },
  };
}

async function run(exec: ExecBlock, cluster: object): Promise<ExecCredential> {
  const info = {
    apiVersion: exec.apiVersion,
    kind: 'ExecCredential',
    spec: { interactive: false, ...(exec.provideClusterInfo && { cluster }) },
  };
  const env = {
    ...process.env,
    ...Object.fromEntries((exec.env ?? []).map(({ name, value }) => [name, value])),
    KUBERNETES_EXEC_INFO: JSON.stringify(info),
  };
  const output = await outputOf(exec, env);
  let answer: { readonly apiVersion?: string; readonly status?: ExecCredential };
  try {
    answer = JSON.parse(output);
  } catch {
    // The output may hold a credential, so it is not quoted.
    throw new ConfigError(`exec plugin ${exec.command} printed something that is not JSON`);
  }
  if (answer.apiVersion !== exec.apiVersion) {
    throw new ConfigError(
      `exec plugin ${exec.command} answered in ${answer.apiVersion}; the kubeconfig asks for ${exec.apiVersion}`,
    );
  }
  if (!answer.status?.token && !answer.status?.clientCertificateData) {
    throw new ConfigError(`exec plugin ${exec.command} printed neither a token nor a client certificate`);
  }
  return answer.status;
}

function outputOf(exec: ExecBlock, env: NodeJS.ProcessEnv): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(exec.command, exec.args ?? [], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    let complaint = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (complaint += text));
    child.on('error', (cause) => {
      const hint = exec.installHint ? `: ${exec.installHint}` : '';
      reject(new ConfigError(`exec plugin ${exec.command} cannot be started${hint}`, { cause }));
    });
    child.on('close', (code) => {
      if (code === 0) resolve(output);
      else reject(new Error(`exec plugin ${exec.command} exited with ${code}: ${complaint.trim().slice(-500)}`));
    });
  });
}
