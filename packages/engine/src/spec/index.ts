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
export { durationOf, type Grammars } from './formats.ts';
export { type Normalised, normalise } from './normalise.ts';
export { joinSecrets, redacted, type SecretRefPath, secretRefsOf } from './secrets.ts';
export type { TransformationConfig, TransformationSpec } from './transformations/index.ts';
export { type Verdict, validate } from './validate.ts';
