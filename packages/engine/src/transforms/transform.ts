import type { Message } from '../message.ts';

/**
 * Compiled once from its spec. None: the message is dropped. Several: each is written before the input counts as done. Throws
 * `TransformError` if this message can't be transformed; it then goes to the error sink and the pipeline goes on.
 */
export type Transform = (message: Message) => readonly Message[];

export class TransformError extends Error {
  override readonly name = 'TransformError';
}
