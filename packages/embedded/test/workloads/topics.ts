import type { Topic } from '../contract/suite.ts';
import { daemons, daemonUpdates } from './daemon-sets.ts';
import { disruptionBudgets } from './disruption-budgets.ts';
import { driving } from './driving.ts';
import { endpointSlicesOfServices } from './endpoint-slices.ts';
import { garbageCollection } from './garbage-collection.ts';
import { namespaceLifecycle } from './namespace-lifecycle.ts';
import { nodes } from './nodes.ts';
import { scheduling } from './scheduling.ts';
import { statefulSetClaims, statefulSetMembers, statefulSetUpdates } from './stateful-sets.ts';
import { volumes } from './volumes.ts';
import type { Workloads } from './workloads.ts';

export const topics: readonly Topic<Workloads>[] = [
  driving,
  garbageCollection,
  namespaceLifecycle,
  endpointSlicesOfServices,
  volumes,
  disruptionBudgets,
  scheduling,
  nodes,
  statefulSetMembers,
  statefulSetUpdates,
  statefulSetClaims,
  daemons,
  daemonUpdates,
];
