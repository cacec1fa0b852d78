import type { Clock } from '../clock.ts';
import type { Failure, Message } from '../message.ts';
import { applyAll, type Compiled } from '../transforms/index.ts';
import type { PipelineEvents } from './events.ts';

/** A transformation of the pipeline, with its name for metrics and logs. */
export type Transformation = Omit<Compiled, 'index'>;

/** Sends one message through all transformations, in their order, and tells of each step. */
export class Chain {
  readonly #transformations: readonly Compiled[];
  readonly #clock: Clock;
  readonly #on: PipelineEvents;

  constructor(transformations: readonly Transformation[], clock: Clock, on: PipelineEvents) {
    this.#transformations = transformations.map((one, index) => ({ ...one, index }));
    this.#clock = clock;
    this.#on = on;
  }

  /** What came out; what failed on the way is added to `failures`, as it was before the transformation that failed. */
  run(input: Message, failures: Failure[]): readonly Message[] {
    const { outputs, failures: failed } = this.#on.applied
      ? applyAll(this.#transformations, input, (one, message) => this.#measured(one, message))
      : applyAll(this.#transformations, input);
    for (const failure of failed) {
      failures.push(failure);
      const { type } = failure;
      this.#on.failed?.({ stage: 'transform', transformation: failure.failed.index, type, messages: 1 });
    }
    return outputs;
  }

  #measured({ index, transform }: Compiled, message: Message): readonly Message[] {
    const startedAt = this.#clock.monotonic();
    let outputs: readonly Message[] = [];
    try {
      outputs = transform(message);
      return outputs;
    } finally {
      this.#on.applied?.(index, outputs.length, this.#clock.monotonic() - startedAt);
    }
  }
}
