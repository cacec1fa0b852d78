import type { StatefulSet } from '@polder/kube';
import type { Revision } from '../../revisions/index.ts';
import type { Members } from '../members.ts';
import type { Observed } from '../observe.ts';
import type { Wanted } from '../wanted.ts';

/** What the parts of a plan decide by. */
export interface Scene extends Pick<Members, 'replicas' | 'condemned'>, Pick<Observed, 'claims'> {
  readonly set: StatefulSet;
  readonly wanted: Wanted;
  /** What members below the partition are made of. */
  readonly current: Revision;
  /** What all the others are, or become. */
  readonly update: Revision;
  readonly now: Date;
}
