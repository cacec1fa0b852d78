import type { Topic } from '../contract/suite.ts';
import { cronJobs } from './cron-jobs.ts';
import { daemons, daemonUpdates } from './daemon-sets.ts';
import { deploymentRollouts } from './deployments.ts';
import { disruptionBudgets } from './disruption-budgets.ts';
import { driving } from './driving.ts';
import { endpointSlicesOfServices } from './endpoint-slices.ts';
import { garbageCollection } from './garbage-collection.ts';
import { jobsAndTheirPods } from './jobs.ts';
import { namespaceLifecycle } from './namespace-lifecycle.ts';
import { nodes } from './nodes.ts';
import { podsOfReplicaSets } from './replica-sets.ts';
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
  jobsAndTheirPods,
  cronJobs,
  deploymentRollouts,
  podsOfReplicaSets,
  statefulSetMembers,
  statefulSetUpdates,
  statefulSetClaims,
  daemons,
  daemonUpdates,
];
