/**
 * A small product to try the runtime on: a Widget keeps a ConfigMap, and a part in an outside system that has to be ordered by
 * a step and cleaned up before the Widget may go.
 */
import { Type } from 'typebox';
import {
  ConfigMap,
  controller,
  defineKind,
  type Known,
  known,
  type Plan,
  type ResourceOf,
  type StatusOf,
  statusOf,
  UserMustAct,
  unknown,
  type World,
} from '../src/index.ts';

export const Widget = defineKind({
  group: 'test.polder.dev',
  version: 'v1',
  kind: 'Widget',
  plural: 'widgets',
  spec: Type.Object({ colour: Type.String({ maxLength: 60 }) }),
  status: statusOf({ part: Type.Optional(Type.String({ maxLength: 100 })) }),
});
export type Widget = ResourceOf<typeof Widget>;

/** The outside system: parts by the uid of their widget. */
export class Factory {
  readonly parts = new Map<string, string>();
  /** Every order, to count what was done twice. */
  readonly orders: string[] = [];
  /** Waits in here, if a test wants a pass to hang. */
  gate: Promise<void> = Promise.resolve();
  isReachable = true;
  /** Every look fails, each time with another text. */
  isBroken = false;
  looks = 0;

  async partOf(uid: string): Promise<Known<string | undefined>> {
    this.looks++;
    if (this.isBroken) throw new Error(`look ${this.looks} failed`);
    return this.isReachable ? known(this.parts.get(uid)) : unknown('the factory does not answer');
  }

  async order(uid: string, colour: string): Promise<void> {
    await this.gate;
    this.orders.push(`${uid} ${colour}`);
    this.parts.set(uid, colour);
  }

  async scrap(uid: string): Promise<void> {
    this.parts.delete(uid);
  }
}

export interface WidgetWorld extends World {
  readonly factory: Factory;
}

interface Observed {
  readonly part: Known<string | undefined>;
}

type WidgetStep =
  | { readonly do: 'order-part'; readonly because: string; readonly uid: string; readonly colour: string }
  | { readonly do: 'scrap-part'; readonly because: string; readonly uid: string };

function plan(widget: Widget, { part }: Observed): Plan<WidgetStep, StatusOf<Widget>> {
  const { name, namespace = '', uid = '', deletionTimestamp } = widget.metadata;
  const { colour } = widget.spec;
  if (colour === 'impossible')
    throw new UserMustAct('NoSuchColour', 'there is no colour impossible; choose another one');
  const lookAgain = { afterMs: 5_000, because: 'the factory sends no events' };
  if (!part.known)
    return {
      objects: [],
      steps: [],
      held: [],
      status: widget.status ?? {},
      summary: { is: 'reconciling', because: part.because },
      lookAgain,
    };
  if (deletionTimestamp !== undefined) {
    const steps =
      part.value === undefined ? [] : [{ do: 'scrap-part', because: 'the widget is deleted', uid } as const];
    return { objects: [], steps, held: [], status: {}, isCleanedUp: true };
  }
  const configMap: ConfigMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data: { colour } };
  const isOrdered = part.value === colour;
  return {
    objects: [configMap],
    steps: isOrdered ? [] : [{ do: 'order-part', because: `the part is ${part.value}`, uid, colour }],
    held: [],
    status: part.value === undefined ? {} : { part: part.value },
    lookAgain: isOrdered ? { ...lookAgain, afterMs: 600_000 } : { ...lookAgain, afterMs: 100 },
  };
}

export const widgets = controller({
  kind: Widget,
  owns: [ConfigMap],
  finalizer: 'test.polder.dev/part',
  timeoutMs: 60_000,
  observe: async ({ metadata }: Widget, { factory }: WidgetWorld): Promise<Observed> => ({
    part: await factory.partOf(metadata.uid ?? ''),
  }),
  plan,
  steps: {
    'order-part': ({ uid, colour }, { factory }) => factory.order(uid, colour),
    'scrap-part': ({ uid }, { factory }) => factory.scrap(uid),
  },
});
