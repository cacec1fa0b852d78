/** Which API server to talk to, and how to prove who we are. */
export interface ClusterConfig {
  /** `https://host:port`, perhaps with a path in front of the API. */
  readonly server: string;
  /** Where namespaced objects go that name no namespace. */
  readonly namespace: string;
  /** The name in the server's certificate, when it differs from the host in `server`. */
  readonly serverName?: string | undefined;
  /** The server's certificate is not checked. Only a kubeconfig that says so has this. */
  readonly insecure?: boolean | undefined;
  /** Asked before every request: tokens and authorities rotate under a running program. Cheap when nothing is due. */
  access(): Promise<Access>;
  /** The server answered 401: what `access` remembers is worthless. */
  forget(): void;
}

export interface Access {
  /** The value of the `authorization` header. */
  readonly authorization?: string | undefined;
  /** PEM. Without it, the authorities that Node trusts. */
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
}

/** The configuration itself is wrong; trying again will not help. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** A config whose access never changes: a test's, the embedded cluster's. */
export function staticConfig(config: Omit<ClusterConfig, 'access' | 'forget'> & { access?: Access }): ClusterConfig {
  const { access = {}, ...rest } = config;
  return { ...rest, access: async () => access, forget() {} };
}
