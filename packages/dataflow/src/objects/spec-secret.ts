import type { Secret } from '@polder/kube';
import type { DataFlow } from '../kinds/index.ts';
import { identityOf, namesOf } from './identity.ts';

export const SECRETS_FILE = 'secrets.json';

/** The values of a flow's secrets. `data` and not `stringData`: that is no field of a stored Secret, so its drift would go unseen. */
export function specSecret(flow: DataFlow, secrets: string): Secret {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: identityOf(flow, namesOf(flow).secrets),
    type: 'Opaque',
    data: { [SECRETS_FILE]: Buffer.from(secrets).toString('base64') },
  };
}
