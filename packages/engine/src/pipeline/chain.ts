import type { Clock } from '../clock.ts';
import type { Failure, Message } from '../message.ts';
import { applyAll, type Compiled, type Step } from '../transforms/index.ts';
import type { PipelineEvents } from './events.ts';

/** A transformation of the pipeline, with its name for metrics and logs. */
export type Transformation = Omit<Compiled, 'index'>;

/** Sends one message through all transformations, in their order, and tells of each step and of the whole. */
export class Chain {
  readonly #transformations: readonly Compiled[];
  readonly #clock: Clock;
  readonly #on: PipelineEvents;
  /** When the last step ended, and with it the next began: to read the clock is no small part of a small step. */
  #at = 0;

  constructor(transformations: readonly Transformation[], clock: Clock, on: PipelineEvents) {
    this.#transformations = transformations.map((one, index) => ({ ...one, index }));
    this.#clock = clock;
    this.#on = on;
  }

  /** What came out; what failed on the way is added to `failures`, as it was before the transformation that failed. */
  run(input: Message, failures: Failure[]): readonly Message[] {
    const startedAt = this.#clock.monotonic();
    this.#at = startedAt;
    const { outputs, failures: failed } = applyAll(this.#transformations, input, this.#measured);
    for (const failure of failed) {
      failures.push(failure);
      const { type } = failure;
      this.#on.failed?.({ stage: 'transform', transformation: failure.failed.index, type, messages: 1 });
    }
    const result = { outputs: outputs.length, failures: failed.length };
    this.#on.transformed?.(input, result, this.#at - startedAt);
    return outputs;
  }

  readonly #measured: Step = ({ index, transform }, message) => {
    let outputs: readonly Message[] = [];
    try {
      outputs = transform(message);
      return outputs;
    } finally {
      const beganAt = this.#at;
      this.#at = this.#clock.monotonic();
      this.#on.applied?.(index, outputs.length, this.#at - beganAt);
    }
  };
}
