import type { Clock } from '../clock.ts';
import { messageOf } from '../log.ts';
import type { Failure, Message } from '../message.ts';
import type { Transform } from '../transforms/index.ts';
import type { PipelineEvents } from './events.ts';

/** A transformation of the pipeline, with its name for metrics and logs. */
export interface Transformation {
  readonly type: string;
  readonly transform: Transform;
}

/** Sends one message through all transformations, in their order. */
export class Chain {
  readonly #transformations: readonly Transformation[];
  readonly #clock: Clock;
  readonly #on: PipelineEvents;

  constructor(transformations: readonly Transformation[], clock: Clock, on: PipelineEvents) {
    this.#transformations = transformations;
    this.#clock = clock;
    this.#on = on;
  }

  /**
   * What came out; what failed on the way is added to `failures`, as it was before the transformation that failed. The
   * other messages made of the same input are not held back by it.
   */
  run(input: Message, failures: Failure[]): readonly Message[] {
    let messages: readonly Message[] = [input];
    for (const [index, transformation] of this.#transformations.entries()) {
      const [only] = messages;
      if (only === undefined) break;
      messages =
        messages.length === 1
          ? this.#apply(index, transformation, only, failures)
          : messages.flatMap((message) => this.#apply(index, transformation, message, failures));
    }
    return messages;
  }

  #apply(index: number, { transform }: Transformation, message: Message, failures: Failure[]): readonly Message[] {
    const startedAt = this.#on.applied ? this.#clock.monotonic() : 0;
    let outputs: readonly Message[] = [];
    try {
      outputs = transform(message);
    } catch (error) {
      // Whatever was thrown: a transformation that breaks on one message must not take the pipeline with it.
      const type = 'transformation_error';
      failures.push({ message, because: messageOf(error), type, isRetryable: false });
      this.#on.failed?.({ stage: 'transform', transformation: index, type, messages: 1 });
    }
    this.#on.applied?.(index, outputs.length, this.#clock.monotonic() - startedAt);
    return outputs;
  }
}
