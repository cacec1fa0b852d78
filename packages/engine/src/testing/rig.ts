import type { Logger } from '../log.ts';
import type { Message } from '../message.ts';
import { Payload } from '../payload.ts';
import {
  type Destination,
  type Ending,
  Pipeline,
  type PipelineOptions,
  type Transformation,
} from '../pipeline/index.ts';
import { TransformError } from '../transforms/index.ts';
import type { VirtualClock } from './virtual-clock.ts';

export type RigOptions = Pick<PipelineOptions, 'source' | 'sink'> &
  Partial<PipelineOptions> & { readonly clock: VirtualClock };

/** A pipeline on a clock of its own, running, with everything that its log was told. */
export class Rig {
  readonly clock: VirtualClock;
  readonly pipeline: Pipeline;
  /** The lines of the log, fields and all. */
  readonly logged: string[] = [];
  ending: Ending | undefined;
  error: unknown;
  readonly #stop = new AbortController();

  constructor(options: RigOptions) {
    this.clock = options.clock;
    this.pipeline = new Pipeline({
      transformations: WORDS,
      graceMs: 10_000,
      random: () => 0.5,
      log: this.#log(),
      ...options,
    });
    this.pipeline.run(this.#stop.signal).then(
      (ending) => (this.ending = ending),
      (error: unknown) => (this.error = error),
    );
  }

  get isOver(): boolean {
    return this.ending !== undefined || this.error !== undefined;
  }

  stop(): void {
    this.#stop.abort();
  }

  /** Lets it run until it is over, for at most a day of its time. */
  async toEnd(): Promise<Ending> {
    await this.clock.runUntil(() => this.isOver, 86_400_000);
    if (this.ending) return this.ending;
    throw this.error ?? new Error('the pipeline stands still');
  }

  #log(): Logger {
    const line = (fields: object, message: string) => void this.logged.push(`${JSON.stringify(fields)} ${message}`);
    return { debug: line, info: line, warn: line, error: line };
  }
}

export function to(sink: Destination['sink'], batching: Partial<Destination['batching']> = {}): Destination {
  return { type: 'memory', sink, batching: { size: 5, bytes: 1 << 20, flushIntervalMs: 1_000, ...batching } };
}

/**
 * A text says what is to become of it: `drop` nothing, `split a b` two messages, `break` a failure, `split a break` both,
 * `route X …` goes the way of X. Everything else passes.
 */
export const WORDS: readonly Transformation[] = [
  { type: 'filter', transform: (message) => (textOf(message).startsWith('drop') ? [] : [message]) },
  {
    type: 'flatten',
    transform: (message) => {
      const [first, ...words] = textOf(message).split(' ');
      return first === 'split' ? words.map((word) => ({ ...message, payload: Payload.ofText(word) })) : [message];
    },
  },
  {
    type: 'cast',
    transform: (message) => {
      if (textOf(message).startsWith('break')) throw new TransformError('no number: "secret-payload"');
      return [message];
    },
  },
  {
    type: 'router',
    transform: (message) => {
      const [first, condition = ''] = textOf(message).split(' ');
      return [
        first === 'route' ? { ...message, metadata: { ...message.metadata, routed_condition: condition } } : message,
      ];
    },
  },
];

function textOf(message: Message): string {
  return message.payload?.text ?? '';
}
