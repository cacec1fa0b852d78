/**
 * The spec of a flow: what it may say (`flow.ts`, `connectors/`, `transformations/`: one declaration for each field), and what
 * is derived from that: the schema of the CRD, the validation, where secrets are, and the one shape that the processor reads.
 *
 *     given ── joinSecrets ── normalise ──► FlowSpec, or every error at once
 */
export type {
  ErrorSinkSpec,
  KafkaSinkSpec,
  KafkaSourceSpec,
  NessieSinkSpec,
  NessieSourceSpec,
  PostgresqlSinkSpec,
  PostgresqlSourceSpec,
  SecurityProtocol,
  SinkSpec,
  SourceSpec,
  TrinoSinkSpec,
  TrinoSourceSpec,
} from './connectors/index.ts';
export { securityProtocolOf } from './connectors/index.ts';
export { crdSchema } from './crd-schema.ts';
export { describeError, describeErrors, type FieldError } from './field-error.ts';
export type { FlowSpec } from './flow.ts';
export { durationOf } from './formats.ts';
export { type Normalised, normalise } from './normalise.ts';
export { joinSecrets, redacted, type SecretRefPath, secretRefsOf } from './secrets.ts';
export type { TransformationConfig, TransformationSpec } from './transformations/index.ts';
export { type Verdict, validate } from './validate.ts';
