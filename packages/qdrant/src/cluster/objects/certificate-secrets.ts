import type { HeldCertificates, Secret } from '@polder/kube';
import type { QdrantCluster } from '../../kinds/index.ts';
import { encode } from './api-key-secret.ts';
import { identityOf, namesOf } from './identity.ts';

/** As Qdrant looks for them in its folder `tls`. */
export const CERTIFICATE = 'cert.pem';
export const CERTIFICATE_KEY = 'key.pem';
export const BUNDLE = 'cacert.pem';

/** The authorities, the one that signs first, and its key: no peer ever gets that one. */
export const AUTHORITY = { certificates: 'ca.crt', key: 'ca.key' } as const;

export interface CertificateSecrets {
  readonly authority: Secret;
  readonly certificate: Secret;
}

export function certificateSecrets(
  cluster: QdrantCluster,
  { authorities, authorityKey, serving }: HeldCertificates,
): CertificateSecrets {
  const names = namesOf(cluster);
  const bundle = authorities.join('');
  return {
    authority: secretOf(cluster, names.authority, { [AUTHORITY.certificates]: bundle, [AUTHORITY.key]: authorityKey }),
    certificate: secretOf(cluster, names.certificate, {
      [CERTIFICATE]: serving.certificate,
      [CERTIFICATE_KEY]: serving.key,
      [BUNDLE]: bundle,
    }),
  };
}

const secretOf = (cluster: QdrantCluster, name: string, files: Readonly<Record<string, string>>): Secret => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: identityOf(cluster, name),
  type: 'Opaque',
  data: Object.fromEntries(Object.entries(files).map(([file, text]) => [file, encode(text)])),
});
