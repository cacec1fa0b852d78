import type { PeerCertificates } from './certificates.ts';
import type { CollectionDefaults } from './state/index.ts';

/** What a process is started with: its flags, its configuration and its image. */
export interface PeerSettings {
  /** Where other peers find it: `http://vectors-0.vectors-headless.default:6335`. */
  readonly uri: string;
  /** The URI of a member. None, or its own: it is the first. */
  readonly bootstrap?: string;
  /** Drops what it knows of the cluster, keeps its id and its data. */
  readonly reinit?: boolean;
  readonly version?: string;
  /** False: a server on its own. */
  readonly isClustered?: boolean;
  /** Chosen by chance unless told otherwise. */
  readonly peerId?: string;
  readonly apiKey?: string;
  readonly altApiKey?: string;
  readonly readOnlyApiKey?: string;
  /** Peers talk over mutual TLS. */
  readonly certificates?: PeerCertificates;
  readonly collections?: Partial<CollectionDefaults>;
}

/** Whether a version is another one or a later one: `isAtLeast('1.19.0', '1.17.1')`. */
export function isAtLeast(version: string, other: string): boolean {
  const [ours, theirs] = [version, other].map((text) => text.split('.').map(Number));
  const at = [0, 1, 2].find((part) => (ours?.[part] ?? 0) !== (theirs?.[part] ?? 0)) ?? 0;
  return (ours?.[at] ?? 0) >= (theirs?.[at] ?? 0);
}

/** As the server writes it, and compares it: with a slash at the end. */
export const normalUri = (uri: string): string => new URL(uri).href;
