/** Where a server listens. */
export interface BindAddress {
  readonly host: string;
  readonly port: number;
}

const ADDRESS = /^(?:\[(?<v6>[^\]]+)\]|(?<host>[^:]*)):(?<port>\d{1,5})$/;

/** `host:port`, `[::1]:port`, or `:port` on loopback: what is to be seen from outside is told so. Undefined: it is none. */
export function bindAddressOf(text: string): BindAddress | undefined {
  const { v6, host, port } = ADDRESS.exec(text)?.groups ?? {};
  if (port === undefined || Number(port) > 65_535) return undefined;
  return { host: (v6 ?? host) || '127.0.0.1', port: Number(port) };
}
