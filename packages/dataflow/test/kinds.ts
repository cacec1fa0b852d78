import {
  ConfigMap,
  Deployment,
  type Kind,
  PodDisruptionBudget,
  Role,
  RoleBinding,
  Secret,
  ServiceAccount,
} from '@polder/kube';
import { kindAmong } from '../../../tools/blackbox/fields.ts';

/** Of what is made for a flow. */
export const kinds: readonly Kind[] = [
  ConfigMap,
  Secret,
  ServiceAccount,
  Role,
  RoleBinding,
  PodDisruptionBudget,
  Deployment,
];

export const kindOf = kindAmong(kinds);
