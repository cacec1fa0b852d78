import type { Message } from '../message.ts';
import type { Writer } from './writer.ts';

export interface RouterOptions {
  readonly main: Writer;
  /** The conditions that have a sink of their own. */
  readonly conditions: ReadonlySet<string>;
  /** Called when the first message for this route comes; it may fail to connect and is then tried again like a write. */
  readonly open: (condition: string) => Writer;
}

/**
 * Finds the writer for a message: that of the route which the router transformation chose, else the main one. Each route has
 * a buffer and a writer of its own, so that a slow route holds up the others only when its buffer is full, and a dead one
 * only until its retry budget is spent: then its messages go to the error sink, or, if there is none, everything waits.
 */
export class Router {
  readonly #options: RouterOptions;
  readonly #open = new Map<string, Writer>();

  constructor(options: RouterOptions) {
    this.#options = options;
  }

  /** The writers of main sink and routes opened so far. */
  get writers(): readonly Writer[] {
    return [this.#options.main, ...this.#open.values()];
  }

  writerFor(message: Message): Writer {
    const { main, conditions, open } = this.#options;
    if (conditions.size === 0) return main;
    const condition = message.metadata['routed_condition'];
    if (typeof condition !== 'string' || !conditions.has(condition)) return main;
    let writer = this.#open.get(condition);
    if (writer === undefined) {
      writer = open(condition);
      this.#open.set(condition, writer);
    }
    return writer;
  }
}
