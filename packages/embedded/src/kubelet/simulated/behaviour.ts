import type { Pod } from '@polder/kube';

/** What a simulated container does, all as data. Times are counted from the moment it is told to start. */
export interface Behaviour {
  readonly startsAfterMs: number;
  /** From its start on; undefined: never. */
  readonly readyAfterMs: number | undefined;
  /** From its start on; undefined: only when it is told to. */
  readonly exits?: { readonly afterMs: number; readonly code: number; readonly message?: string } | undefined;
  /** It can't be started at all. */
  readonly fails?: { readonly reason: 'ErrImagePull' | 'CreateContainerError'; readonly message: string } | undefined;
  /** How long it takes to end after it was asked to. */
  readonly stopsAfterMs: number;
}

/** Pods that are alike do alike: the stages that match a pod are laid over each other, later ones on top. */
export interface Stage {
  readonly name: string;
  readonly matches: { readonly ownerKind?: string; readonly labels?: Readonly<Record<string, string>> };
  readonly does: Partial<Behaviour>;
}

const AT_ONCE: Behaviour = { startsAfterMs: 0, readyAfterMs: 0, stopsAfterMs: 0 };

/** Services come up after a moment, and the pods of jobs do their work and end. */
export const STAGES: readonly Stage[] = [
  { name: 'run', matches: {}, does: { startsAfterMs: 200, readyAfterMs: 300 } },
  { name: 'complete', matches: { ownerKind: 'Job' }, does: { exits: { afterMs: 1_000, code: 0 } } },
];

/** Annotations of a pod that say what it shall do, on top of all stages. Each is told of in the guide. */
export const SIMULATE = 'simulate.polder.io/';

export function behaviourOf(pod: Pod, stages: readonly Stage[]): Behaviour {
  const behaviour = stages
    .filter((stage) => isMatch(stage, pod))
    .reduce((sum, { does }) => ({ ...sum, ...does }), AT_ONCE);
  return { ...behaviour, ...asked(pod, behaviour) };
}

function isMatch({ matches: { ownerKind, labels = {} } }: Stage, { metadata }: Pod): boolean {
  const owner = metadata.ownerReferences?.find((one) => one.controller)?.kind;
  if (ownerKind !== undefined && owner !== ownerKind) return false;
  return Object.entries(labels).every(([key, value]) => metadata.labels?.[key] === value);
}

function asked({ metadata }: Pod, before: Behaviour): Partial<Behaviour> {
  const say = (name: string) => metadata.annotations?.[`${SIMULATE}${name}`];
  const time = (name: string) => durationOf(say(name));
  const [start, ready, exit, stop] = [time('start-after'), time('ready-after'), time('exit-after'), time('stop-after')];
  const message = say('exit-message');
  const isLost = say('lose-volume') !== undefined;
  return {
    ...(start !== undefined && { startsAfterMs: start }),
    ...(ready !== undefined && { readyAfterMs: ready }),
    ...(say('ready') === 'false' && { readyAfterMs: undefined }),
    ...(stop !== undefined && { stopsAfterMs: stop }),
    ...((exit !== undefined || say('exit-code') !== undefined) && {
      exits: {
        afterMs: exit ?? before.exits?.afterMs ?? 0,
        code: Number(say('exit-code') ?? 0),
        ...(message !== undefined && { message }),
      },
    }),
    ...(isLost && { exits: { afterMs: 0, code: 1, message: 'input/output error: its volume is lost' } }),
    ...(say('image-pull') === 'fail' && {
      fails: { reason: 'ErrImagePull', message: 'the annotation simulate.polder.io/image-pull says that it fails' },
    }),
  };
}

/** `500ms`, `2s`, `1m30s`; undefined if it is none. */
export function durationOf(text: string | undefined): number | undefined {
  if (text === undefined || !/^(\d+(\.\d+)?(ms|s|m|h))+$/.test(text)) return undefined;
  const units: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };
  const parts = text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g);
  return [...parts].reduce((sum, [, number, unit = '']) => sum + Number(number) * (units[unit] ?? 0), 0);
}
