import { createHash, timingSafeEqual } from 'node:crypto';
import type { PeerSettings } from '../settings.ts';
import type { Access } from './route.ts';

export type Permission = 'granted' | 'forbidden' | 'no-key' | 'wrong-key';

/** What the keys of a request allow. Without a key of its own, a server lets everybody do everything. */
export function permissionFor(
  { apiKey, altApiKey, readOnlyApiKey }: PeerSettings,
  headers: Readonly<Record<string, string>>,
  access: Access,
): Permission {
  if (!apiKey || access === 'open') return 'granted';
  const given = headers['api-key'] ?? bearer(headers['authorization']);
  if (given === undefined) return 'no-key';
  if (isSame(given, apiKey) || isSame(given, altApiKey)) return 'granted';
  if (!isSame(given, readOnlyApiKey)) return 'wrong-key';
  return access === 'read' ? 'granted' : 'forbidden';
}

const bearer = (header: string | undefined) => /^Bearer (.*)$/.exec(header ?? '')?.[1];

const digest = (text: string) => createHash('sha256').update(text).digest();
/** An empty key is none. */
const isSame = (given: string, key: string | undefined) => !!key && timingSafeEqual(digest(given), digest(key));
