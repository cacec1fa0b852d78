import { Type } from 'typebox';
import { need, warn, when } from '../finding.ts';
import { withRule } from '../schema.ts';

const EITHER = 'A path, or the text of the PEM itself.';

/** For Kafka, that the block is there turns TLS on, even an empty one; elsewhere the address says so. */
export const tls = withRule(
  Type.Object(
    {
      insecureSkipVerify: Type.Boolean({
        default: false,
        description: 'Accept any certificate of the server. Without effect if there is a caFile.',
      }),
      caFile: Type.Optional(
        Type.String({
          description: `Certificates to trust instead of those of the system. ${EITHER}`,
          'x-polder-secret-ref': 'caSecretRef',
        }),
      ),
      certFile: Type.Optional(
        Type.String({
          description: `The certificate to show to the server. ${EITHER}`,
          'x-polder-secret-ref': 'certSecretRef',
        }),
      ),
      keyFile: Type.Optional(
        Type.String({
          description: `The private key of the certificate. ${EITHER}`,
          'x-polder-secret-ref': 'keySecretRef',
        }),
      ),
    },
    { description: 'Encrypts the connection.' },
  ),
  (given, has) => [
    ...when(has('certFile') && !has('keyFile'), need('keyFile', 'a certificate needs its key')),
    ...when(has('keyFile') && !has('certFile'), need('certFile', 'a key needs its certificate')),
    ...when(
      given.insecureSkipVerify === true,
      has('caFile')
        ? warn('insecureSkipVerify', 'has no effect beside a CA: the certificate of the server is verified')
        : warn('insecureSkipVerify', 'anybody on the way can pretend to be the server; give a CA instead'),
    ),
  ],
);
