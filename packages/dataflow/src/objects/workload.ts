import type { FlowSpec } from '@polder/engine/spec';
import type { SpecFiles } from './spec-files.ts';

/** Everything that was decided about a flow before its objects are written down. */
export interface Workload {
  /** In its one shape, with defaults and secrets. */
  readonly spec: FlowSpec;
  readonly files: SpecFiles;
  /** The values of secrets, by where they belong. */
  readonly secrets: ReadonlyMap<string, string>;
  readonly image: string;
  /** How many processors there should be now: 0 while the flow is paused. */
  readonly replicas: number;
  /** Its source is polled, and how far it was read is kept beyond a restart. */
  readonly isCheckpointed: boolean;
  readonly logLevel: string;
  readonly progressTimeoutSeconds?: number | undefined;
}
