import { type Job, Pod, type World } from '@polder/kube';

export interface Observed {
  readonly owned: readonly Pod[];
  /** Pods of its namespace that nobody controls. */
  readonly unowned: readonly Pod[];
}

export async function observe(job: Job, { cluster }: World): Promise<Observed> {
  return { owned: await cluster.owned(Pod, job), unowned: await cluster.unowned(Pod, job.metadata.namespace) };
}
