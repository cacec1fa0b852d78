import type { Secret } from '@polder/kube';
import type { QdrantCluster } from '../../kinds/index.ts';
import { identityOf } from './identity.ts';
import type { ApiKey } from './workload.ts';

export const KEY = 'api-key';
export const PREVIOUS_KEY = 'api-key-previous';
export const NEXT_KEY = 'api-key-next';

export function apiKeySecret(
  cluster: QdrantCluster,
  name: string,
  { value, next, previous }: Omit<ApiKey, 'isGiven'>,
): Secret {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: identityOf(cluster, name),
    type: 'Opaque',
    data: {
      [KEY]: encode(value),
      ...(next !== undefined && { [NEXT_KEY]: encode(next) }),
      ...(previous !== undefined && { [PREVIOUS_KEY]: encode(previous) }),
    },
  };
}

export const encode = (text: string) => Buffer.from(text).toString('base64');

export const decoded = (secret: Secret | undefined, key: string): string | undefined => {
  const data = secret?.data?.[key];
  return data === undefined ? undefined : Buffer.from(data, 'base64').toString('utf8');
};
