import { carryOutRotation, isPair } from '@polder/kube';
import type { QdrantCluster } from '../kinds/index.ts';
import { type CertificateSecrets, certificateHosts, certificateSecrets } from './objects/index.ts';
import type { Children } from './observe.ts';
import { issuedIn, PEER_TERMS, type Renewal } from './plan/index.ts';

/** What is to be written: the authority first, so that its key is kept before anybody shows what it signed. */
export async function renewed(
  cluster: QdrantCluster,
  children: Pick<Children, 'certificate' | 'authority'>,
  next: Renewal,
  now: number,
): Promise<Partial<CertificateSecrets>> {
  const { held } = issuedIn(children);
  const after =
    next === 'publish' ? held : await carryOutRotation({ do: next }, held, certificateHosts(cluster), now, PEER_TERMS);
  if (!after) return {};
  const { authority, certificate } = certificateSecrets(cluster, after);
  return isPair(after.serving) ? { authority, certificate } : { authority };
}
