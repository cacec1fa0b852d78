import { timestamp } from '@polder/kube';
import { valueAt } from '../object-text.ts';
import { isObject, type Json } from '../schema/index.ts';
import type { Call } from './call.ts';
import { liveEntry } from './update.ts';

const AN_HOUR = 3600;

/** A token for a service account. Nothing checks it here: there is one user, and it has its own token. */
export function serviceAccountToken(call: Call, sent: Json): Readonly<Record<string, unknown>> {
  const { clock, random } = call.core;
  const { metadata } = liveEntry(call).object;
  const asked = valueAt(sent, ['spec', 'expirationSeconds']);
  const expirationSeconds = typeof asked === 'number' ? asked : AN_HOUR;
  const spec = isObject(sent) && isObject(sent['spec']) ? sent['spec'] : {};
  const { name, namespace } = metadata;
  const characters = Array.from({ length: 43 }, () => Math.floor(random() * 36).toString(36));
  return {
    kind: 'TokenRequest',
    apiVersion: 'authentication.k8s.io/v1',
    metadata: { name, namespace, creationTimestamp: timestamp(clock.now()) },
    spec: { ...spec, expirationSeconds },
    status: {
      token: characters.join(''),
      expirationTimestamp: timestamp(clock.now() + expirationSeconds * 1000),
    },
  };
}
