import type {
  ConfigMap,
  Deployment,
  PodDisruptionBudget,
  Role,
  RoleBinding,
  Secret,
  ServiceAccount,
} from '@polder/kube';
import type { DataFlow } from '../kinds/index.ts';

/** What is done for a flow beyond applying its objects. */
export type FlowStep =
  | { readonly do: 'remove-secrets'; readonly because: string; readonly secret: Secret }
  | { readonly do: 'remove-budget'; readonly because: string; readonly budget: PodDisruptionBudget }
  | { readonly do: 'remove-access'; readonly because: string; readonly access: Access }
  /** Empties the checkpoint, then takes the request back: a crash in between does both again. */
  | {
      readonly do: 'reset-checkpoint';
      readonly because: string;
      readonly flow: DataFlow;
      readonly checkpoint: ConfigMap | undefined;
    }
  /** Takes a request back that has no meaning. */
  | { readonly do: 'ignore-reset'; readonly because: string; readonly flow: DataFlow }
  /** Lets a Deployment end its pods before it makes new ones. */
  | { readonly do: 'set-recreate'; readonly because: string; readonly deployment: Deployment }
  /** Where its Deployment can't be applied: not yet, or not at all, for nobody should need a valid spec to stop a flow. */
  | { readonly do: 'stop-processor'; readonly because: string; readonly deployment: Deployment }
  | {
      readonly do: 'remove-processor';
      readonly because: string;
      readonly deployment: Deployment | undefined;
      readonly spec: ConfigMap | undefined;
    };

/** What lets a processor write its checkpoint. */
export interface Access {
  readonly account: ServiceAccount | undefined;
  readonly role: Role | undefined;
  readonly binding: RoleBinding | undefined;
}
