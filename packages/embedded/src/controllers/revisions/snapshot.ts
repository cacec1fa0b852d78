/** A template as a ControllerRevision keeps it: a patch that would put it back. */
import type { ControllerRevision, PodTemplateSpec } from '@polder/kube';

export interface Snapshot {
  readonly spec: { readonly template: PodTemplateSpec & { readonly $patch: 'replace' } };
}

export const snapshotOf = (template: PodTemplateSpec): Snapshot => ({
  spec: { template: { ...template, $patch: 'replace' } },
});

/** Undefined if the revision keeps something else: then it is none of a workload's. */
export function templateIn({ data }: Pick<ControllerRevision, 'data'>): PodTemplateSpec | undefined {
  if (!isSnapshot(data)) return undefined;
  const { $patch: _, ...template } = data.spec.template;
  return template;
}

function isSnapshot(data: unknown): data is Snapshot {
  return isObject(data) && isObject(data['spec']) && isObject(data['spec']['template']);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
