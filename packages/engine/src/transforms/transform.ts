import type { Message } from '../message.ts';

/**
 * Compiled once from its spec. None: the message is dropped. Several: each is written before the input counts as done. A
 * message that need not change is returned itself, and leaves byte for byte as it came. Throws `TransformError` if this
 * message can't be transformed; it then goes to the error sink and the pipeline goes on.
 */
export type Transform = (message: Message) => readonly Message[];

/** Names the field and the rule, never the value: it goes into logs. */
export class TransformError extends Error {
  override readonly name = 'TransformError';
}

/** A transformation can't be compiled from this config. `field` says where in it: `fields[2]`, `routes[0].condition`. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly field: string;

  constructor(field: string, because: string) {
    super(because);
    this.field = field;
  }
}
