import { type Client, type Clock, type Logger, type Registration, register } from '@polder/kube';
import type { ApiServer } from '../apiserver/index.ts';
import { cronJobs } from './cron-job/index.ts';
import { daemonSets } from './daemon-set/index.ts';
import { deployments } from './deployment/index.ts';
import { endpointSlices } from './endpoint-slice/index.ts';
import { GarbageCollector } from './garbage-collector/index.ts';
import { jobs, orphanedJobPods } from './job/index.ts';
import { kindFinder } from './kind-finder.ts';
import { NamespaceContents, namespaces } from './namespace/index.ts';
import { type Provisioner, persistentVolumeClaims, persistentVolumes } from './persistent-volume/index.ts';
import { podDisruptionBudgets } from './pod-disruption-budget/index.ts';
import { replicaSets } from './replica-set/index.ts';
import { namespaceDefaults } from './service-account/index.ts';
import { statefulSets } from './stateful-set/index.ts';

export interface ControllersOptions {
  readonly server: Pick<ApiServer, 'follow' | 'kinds'>;
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  /** The certificate authority of the API server, as PEM. */
  readonly rootCa: string | undefined;
  /** Makes the volumes of the standard class. */
  readonly provisioner: Provisioner;
}

/** What a real cluster has in its kube-controller-manager. */
export interface Controllers {
  readonly registrations: readonly Registration[];
  /** What looks at all kinds at once, until the signal aborts. */
  housekeeping(signal: AbortSignal): Promise<void>;
}

export function createControllers(options: ControllersOptions): Controllers {
  const { client, rootCa, server, provisioner } = options;
  const contents = new NamespaceContents();
  const garbage = new GarbageCollector(options);
  const provisioning = <W>(world: W) => ({ ...world, provisioner });
  const findKind = kindFinder(() => server.kinds);
  return {
    registrations: [
      register(deployments),
      register(replicaSets),
      register(statefulSets),
      register(daemonSets()),
      register(jobs),
      register(orphanedJobPods),
      register(cronJobs),
      register(endpointSlices),
      register(namespaces({ contents, client })),
      register(namespaceDefaults({ rootCa })),
      register(persistentVolumeClaims, provisioning),
      register(persistentVolumes, provisioning),
      register(podDisruptionBudgets, (world) => ({ ...world, client, findKind })),
    ],
    async housekeeping(signal) {
      const unfollow = contents.follow(server);
      await garbage.start(signal);
      unfollow();
    },
  };
}
