import type { ErrorType } from '../../message.ts';

/** What went wrong between us and Kafka, in words for a user. Never the client's own error: that may hold what was sent. */
export class KafkaError extends Error {
  override readonly name = 'KafkaError';
  readonly type: ErrorType;
  /** Another attempt may help: a broker is away, a partition changes its leader. */
  readonly isRetryable: boolean;

  constructor({ because, type, isRetryable }: Trouble) {
    super(because);
    this.type = type;
    this.isRetryable = isRetryable;
  }
}

export interface Trouble {
  readonly because: string;
  readonly type: ErrorType;
  readonly isRetryable: boolean;
}

/** Answers of brokers that no patience turns into others. */
const REFUSALS: Readonly<Record<string, string>> = {
  TOPIC_AUTHORIZATION_FAILED: 'the user may not use this topic; grant it with an ACL',
  GROUP_AUTHORIZATION_FAILED: 'the user may not use this consumer group; grant it with an ACL',
  CLUSTER_AUTHORIZATION_FAILED: 'the user may not do this on the cluster; an idempotent producer needs IdempotentWrite',
  UNSUPPORTED_SASL_MECHANISM: 'the broker does not offer this sasl.mechanism on this listener',
  ILLEGAL_SASL_STATE: 'the broker does not ask for a user on this listener; remove sasl, or use another port',
  INVALID_TOPIC_EXCEPTION: 'the name of the topic is not valid',
};

const UNTRUSTED = /CERT|VERIFY|ISSUER|SELF_SIGNED|ALTNAME/;

/** Reads the client's error, which is a tree of retries, brokers and causes, down to what a user can act on. */
export function troubleOf(error: unknown, who: string): Trouble {
  if (error instanceof KafkaError) return { because: error.message, type: error.type, isRetryable: error.isRetryable };
  const leaves = [...errorsIn(error)];
  for (const rule of RULES) {
    for (const leaf of leaves) {
      const trouble = rule(leaf);
      if (trouble) return { ...trouble, because: `${who}: ${trouble.because}` };
    }
  }
  const last = leaves.at(-1);
  return { because: `${who}: ${last?.message ?? String(error)}`, type: 'unknown', isRetryable: true };
}

export const kafkaError = (error: unknown, who: string): KafkaError => new KafkaError(troubleOf(error, who));

/** True: some broker answered with this code (`REBALANCE_IN_PROGRESS`, …). */
export function saysAnyOf(error: unknown, codes: readonly string[]): boolean {
  return [...errorsIn(error)].some(({ apiId }) => apiId !== undefined && codes.includes(apiId));
}

interface Leaf {
  readonly message: string;
  readonly code: string;
  /** The name of the protocol's error code. */
  readonly apiId: string | undefined;
  readonly canRetry: boolean | undefined;
}

function* errorsIn(error: unknown): Iterable<Leaf> {
  if (!(error instanceof Error)) return;
  if ('errors' in error && Array.isArray(error.errors)) {
    for (const inner of error.errors) yield* errorsIn(inner);
  }
  yield* errorsIn(error.cause);
  yield {
    message: error.message,
    code: 'code' in error && typeof error.code === 'string' ? error.code : '',
    apiId: 'apiId' in error && typeof error.apiId === 'string' ? error.apiId : undefined,
    canRetry: 'canRetry' in error && typeof error.canRetry === 'boolean' ? error.canRetry : undefined,
  };
}

type Rule = (leaf: Leaf) => Trouble | undefined;

/** The most telling first: the same failure shows at several places of the tree. */
const RULES: readonly Rule[] = [
  ({ code, message }) =>
    code === 'PLT_KFK_AUTHENTICATION' && message.includes('authentication failed')
      ? refused('the broker refused the user; check sasl.username, sasl.password and sasl.mechanism')
      : undefined,
  ({ apiId }) => {
    const because = apiId === undefined ? undefined : REFUSALS[apiId];
    return because === undefined ? undefined : refused(because);
  },
  ({ code, message }) =>
    UNTRUSTED.test(code)
      ? refused(`the broker's certificate is not trusted (${message}); check tls.caFile`)
      : undefined,
  ({ message }) => (message === 'Broker requires TLS.' ? refused('the broker speaks TLS here; add tls') : undefined),
  ({ message, code }) =>
    message.startsWith('TLS handshake failed') || code === 'ERR_SSL_WRONG_VERSION_NUMBER'
      ? refused('the broker does not speak TLS here; remove tls, or use its TLS port')
      : undefined,
  // Whatever breaks the handshake is called this: a broker that goes away in the middle of it, or one that speaks TLS.
  ({ code }) =>
    code === 'PLT_KFK_AUTHENTICATION'
      ? {
          because: 'the broker closed the connection while it was opened; if it speaks TLS here, add tls',
          type: 'connection_error',
          isRetryable: true,
        }
      : undefined,
  ({ code, message }) =>
    /^E(CONN|PIPE|HOST|NET|NOTFOUND|AI_AGAIN)/.test(code)
      ? { because: message, type: 'connection_error', isRetryable: true }
      : undefined,
  ({ apiId, message, canRetry }) =>
    apiId === undefined
      ? undefined
      : { because: `${apiId}: ${message}`, type: canRetry ? 'transient' : 'unknown', isRetryable: canRetry === true },
  ({ message }) => (/timed out/.test(message) ? { because: message, type: 'timeout', isRetryable: true } : undefined),
  ({ code, message }) =>
    code === 'PLT_KFK_NETWORK' ? { because: message, type: 'connection_error', isRetryable: true } : undefined,
  ({ code, message }) =>
    code === 'PLT_KFK_USER' || code === 'PLT_KFK_UNSUPPORTED_API'
      ? { because: message, type: 'unknown', isRetryable: false }
      : undefined,
];

const refused = (because: string): Trouble => ({ because, type: 'auth_error', isRetryable: false });
