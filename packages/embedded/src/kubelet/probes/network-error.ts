import { messageOf } from '@polder/kube';

const SAYINGS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  EHOSTUNREACH: 'no route to host',
  ENETUNREACH: 'network is unreachable',
  EADDRNOTAVAIL: 'cannot assign requested address',
  ECONNRESET: 'connection reset by peer',
};

/** A failed connection in the words of Go, which the real kubelet shows. */
export function dialError(error: unknown, address: string): string {
  const code = codeOf(error);
  if (code === 'ENOTFOUND') return `dial tcp: lookup ${address.replace(/:\d+$/, '')}: no such host`;
  const saying = SAYINGS[code];
  if (saying === undefined) return messageOf(error);
  // A reset comes once there is a connection; there is no more to dial then.
  return code === 'ECONNRESET' ? `read: ${saying}` : `dial tcp ${address}: connect: ${saying}`;
}

export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}
