import type { Client } from '@polder/kube';

/** What one call works with. */
export interface Call {
  readonly client: Client;
  /** Aborts when the call has taken too long. */
  readonly signal: AbortSignal;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** A call about what is in a namespace. */
export interface NamespacedCall extends Call {
  readonly namespace: string;
}

/** Found by whoever looks for what was made here. */
export const MANAGED_BY = { 'app.kubernetes.io/managed-by': 'qdrant-operator-api' };

/** What no object can be called is not looked for: in a path, `..` would lead elsewhere. */
export const isName = (text: string): boolean =>
  text.length <= 253 && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/.test(text);

export const isNamespace = (text: string): boolean => text.length <= 63 && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(text);
