export type { BundleTarget } from './bundle.ts';
export { type CertificateFileEvents, type WatchFilesOptions, watchFiles } from './files.ts';
export { type ManagedCertificatesOptions, managedCertificates } from './managed.ts';
export { type AuthorityOptions, createAuthority, expiryOf, type IssueOptions, issue, type Pair } from './pair.ts';
export type { CertificateSource } from './source.ts';
