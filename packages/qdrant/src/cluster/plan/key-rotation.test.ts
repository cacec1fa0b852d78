import type { KubernetesObject, Secret, StatefulSet } from '@polder/kube';
import { describe, expect, test } from 'vitest';
import { aPod, look, NOW } from '../../../test/states.ts';
import { DEFAULTS } from '../../settings.ts';
import { apiKeySecret, decoded } from '../objects/index.ts';
import { planCluster } from './index.ts';

/** A cluster whose pods restart when the plan says so, and read the Secret of that moment. */
class Rolling {
  readonly #version: string;
  #secret: Secret = apiKeySecret(look().cluster, 'vectors-apikey', { value: 'old' });
  #set: StatefulSet | undefined;
  /** The keys that each peer takes. */
  readonly taken = new Map<number, { readonly revision: string; readonly keys: readonly string[] }>();

  constructor(version: string) {
    this.#version = version;
  }

  /** What clients read. */
  get told(): string {
    return decoded(this.#secret, 'api-key') ?? '';
  }

  isTakenByAll(key: string): boolean {
    return [...this.taken.values()].every(({ keys }) => keys.includes(key));
  }

  pass(apikey: string): readonly string[] {
    const spec = { apikey };
    const views = Object.fromEntries([0, 1, 2].map((at) => [at, { version: this.#version }]));
    const { cluster, observed } = look({ spec, views });
    const set = this.#set && {
      ...this.#set,
      metadata: { ...this.#set.metadata, generation: 1 },
      status: { observedGeneration: 1, replicas: 3, updateRevision: this.#revision },
    };
    const pods = observed.pods.map((seen) => {
      const labels = { 'controller-revision-hash': this.taken.get(seen.ordinal)?.revision ?? '' };
      return { ...seen, pod: { ...aPod(seen.ordinal), metadata: { ...seen.pod.metadata, labels } } };
    });
    const children = { ...observed.children, ...(set && { set }), apiKey: this.#secret };
    const { objects, steps } = planCluster(cluster, { ...observed, pods, children }, DEFAULTS, NOW);
    const before = this.#revision;
    this.#set = objects.find((object): object is StatefulSet => object.kind === 'StatefulSet') ?? this.#set;
    this.#secret = objects.find((object): object is Secret => isKey(object)) ?? this.#secret;
    if (this.taken.size === 0) for (const ordinal of [0, 1, 2]) this.#restart(ordinal);
    const restarted = steps.flatMap((step) => (step.do === 'restart-pod' ? [step.pod.metadata.name] : []));
    for (const pod of restarted) this.#restart(Number(pod.split('-')[1]));
    return before === this.#revision ? restarted : [...restarted, 'another template'];
  }

  get #revision(): string {
    const { metadata, spec } = this.#set?.spec?.template ?? {};
    return JSON.stringify([metadata?.annotations, spec?.containers[0]?.env]);
  }

  #restart(ordinal: number): void {
    const env = this.#set?.spec?.template?.spec?.containers[0]?.env ?? [];
    const keys = env.flatMap(({ name, valueFrom }) =>
      name.endsWith('SERVICE__API_KEY') || name.endsWith('ALT_API_KEY')
        ? (decoded(this.#secret, valueFrom?.secretKeyRef?.key ?? '') ?? [])
        : [],
    );
    this.taken.set(ordinal, { revision: this.#revision, keys });
  }
}

const isKey = ({ kind, metadata }: KubernetesObject) => kind === 'Secret' && metadata.name === 'vectors-apikey';

describe('another key', () => {
  test('takes the place of the one before without a moment at which the Secret does not open every peer', () => {
    const rolling = new Rolling('1.19.0');
    while (rolling.pass('old').length > 0);
    const told = new Set<string>();
    let restarts = 0;
    for (;;) {
      const done = rolling.pass('new');
      restarts += done.filter((what) => what.startsWith('vectors')).length;
      told.add(rolling.told);
      expect(rolling.isTakenByAll(rolling.told)).toBe(true);
      if (done.length === 0) break;
    }
    expect([...told]).toEqual(['old', 'new']);
    expect(restarts).toBe(6);
    expect([...rolling.taken.values()].map(({ keys }) => keys)).toEqual([['new'], ['new'], ['new']]);
  });

  test('that is taken back halfway is gone in the end', () => {
    const rolling = new Rolling('1.19.0');
    while (rolling.pass('old').length > 0);
    for (let pass = 0; pass < 3; pass++) rolling.pass('new');
    while (rolling.pass('old').length > 0) expect(rolling.isTakenByAll('old')).toBe(true);
    expect([...rolling.taken.values()].map(({ keys }) => keys)).toEqual([['old'], ['old'], ['old']]);
  });

  test('of peers that can have but one takes its place at once, and the operator knows both', () => {
    const rolling = new Rolling('1.16.3');
    while (rolling.pass('old').length > 0);
    rolling.pass('new');
    expect(rolling.told).toBe('new');
    expect(rolling.isTakenByAll('old')).toBe(true);
    while (rolling.pass('new').length > 0);
    expect(rolling.isTakenByAll('new')).toBe(true);
  });
});
