import type { Container, IntOrString } from '@polder/kube';

/** Whom a probe asks. */
export interface ProbeTarget {
  readonly container: Container;
  /** The address of the pod. */
  readonly address: string;
  /** Rejects if the command can't be started, or when the signal aborts. */
  exec(
    command: readonly string[],
    signal: AbortSignal,
  ): Promise<{ readonly exitCode: number; readonly output: string }>;
}

/** By the name that the container gives to it, or by its number. */
export function portOf(port: IntOrString, { ports = [] }: Container): number {
  const named = ports.find(({ name }) => name !== undefined && name === port)?.containerPort;
  const number = named ?? (/^[+-]?\d+$/.test(String(port)) ? Number(port) : undefined);
  if (number === undefined) throw new Error(`strconv.Atoi: parsing ${JSON.stringify(port)}: invalid syntax`);
  if (number <= 0 || number >= 65536) throw new Error(`invalid port number: ${number}`);
  return number;
}

/** `host:port`, with brackets around an IPv6 address. */
export function joined(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}
