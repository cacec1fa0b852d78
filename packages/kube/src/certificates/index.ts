export type { BundleTarget } from './bundle.ts';
export { type CertificateFileEvents, type WatchFilesOptions, watchFiles } from './files.ts';
export { type ManagedCertificatesOptions, managedCertificates } from './managed.ts';
export {
  type AuthorityOptions,
  certificatesIn,
  createAuthority,
  expiryOf,
  type IssueOptions,
  isForAll,
  isIssuedBy,
  isPair,
  issue,
  type Pair,
} from './pair.ts';
export {
  carryOut as carryOutRotation,
  type Held as HeldCertificates,
  nextStep as nextRotation,
  type Step as Rotation,
  type Terms as RotationTerms,
} from './rotation.ts';
export type { CertificateSource } from './source.ts';
