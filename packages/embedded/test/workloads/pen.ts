import { pod, pods } from '../contract/objects.ts';
import type { Workloads } from './workloads.ts';

type Labels = Readonly<Record<string, string>>;

export interface Taint {
  readonly key: string;
  readonly value?: string;
  readonly effect: string;
}

export interface NodeFields {
  readonly labels?: Labels;
  readonly taints?: readonly Taint[];
  readonly resources?: Labels;
  readonly ready?: boolean;
}

const LABEL = 'contract.polder.io/pen';

/**
 * Healthy nodes of a case's own, so that it knows everything the scheduler can choose from. No kubelet runs them: a pod gets
 * there, and that is all. Nobody sends heartbeats either, so they stay healthy for less than a minute.
 */
export class Pen {
  readonly name: string;
  readonly toleration: { readonly key: string; readonly value: string };
  readonly #world: Workloads;

  constructor(world: Workloads) {
    this.#world = world;
    this.name = world.fresh('pen');
    this.toleration = { key: LABEL, value: this.name };
  }

  /** For the spec of a pod: it can run here and nowhere else. */
  get inside() {
    return { nodeSelector: { [LABEL]: this.name }, tolerations: [this.toleration] };
  }

  /** Another node; gives its name. */
  async node(fields: NodeFields = {}): Promise<string> {
    const { wire, fresh } = this.#world;
    const name = fresh('node');
    const resources = { cpu: '4', memory: '8Gi', pods: '10', ...fields.resources };
    await wire.must(
      wire.create('/api/v1/nodes', {
        apiVersion: 'v1',
        kind: 'Node',
        metadata: { name, labels: { 'kubernetes.io/hostname': name, [LABEL]: this.name, ...fields.labels } },
        spec: { taints: [{ key: LABEL, value: this.name, effect: 'NoSchedule' }, ...(fields.taints ?? [])] },
        status: { capacity: resources, allocatable: resources, conditions: readiness(fields.ready ?? true) },
      }),
    );
    if (fields.ready ?? true) await this.#scout(name, fields.taints ?? []);
    return name;
  }

  /** Returns when the scheduler has seen the node, ready: a choice between nodes is one only then. */
  async #scout(node: string, taints: readonly Taint[]): Promise<void> {
    const { wire, fresh, scheduled } = this.#world;
    const tolerations = [this.toleration, ...taints.map(({ key }) => ({ key, operator: 'Exists' }))];
    const scout = pod(fresh('scout'), { nodeSelector: { 'kubernetes.io/hostname': node }, tolerations });
    await wire.must(wire.create(pods('default'), scout));
    await scheduled('default', scout.metadata.name);
    await wire.must(wire.delete(`${pods('default')}/${scout.metadata.name}`, { gracePeriodSeconds: 0 }));
  }
}

/** The conditions of a node, as its kubelet would report them. */
export function readiness(ready: boolean) {
  const time = new Date().toISOString();
  const status = ready ? 'True' : 'False';
  const reason = ready ? 'KubeletReady' : 'KubeletNotReady';
  return [{ type: 'Ready', status, reason, lastHeartbeatTime: time, lastTransitionTime: time }];
}
