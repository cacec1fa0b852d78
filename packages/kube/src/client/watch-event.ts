import type { KubernetesObject } from '../kinds/index.ts';
import type { Status } from './errors.ts';

export type WatchEvent<T> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T }
  /** Nothing happened up to this version. Carries no object, only its version and annotations. */
  | { readonly type: 'BOOKMARK'; readonly object: Pick<KubernetesObject, 'metadata'> }
  | { readonly type: 'ERROR'; readonly object: Status };

export function parseWatchEvent<T extends KubernetesObject>(line: Buffer): WatchEvent<T> {
  return JSON.parse(line.toString('utf8'));
}
