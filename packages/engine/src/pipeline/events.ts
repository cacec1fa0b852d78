import type { ErrorType, Message, Origin } from '../message.ts';

/** Told of what happens, for metrics. Called on the way of every message: keep them short, and never let them throw. */
export interface PipelineEvents {
  connected?(connector: Connector): void;
  /** It broke, could not be reached, or was closed. */
  disconnected?(connector: Connector): void;
  /** A batch of inputs came after `waitedMs` of waiting for it. Those that could not be decoded are among them. */
  read?(inputs: readonly Message[], waitedMs: number): void;
  /** One message went through one transformation, the n-th of the chain, and so many came out. */
  applied?(transformation: number, outputs: number, tookMs: number): void;
  /** One input went through the whole chain. Neither outputs nor failures: it was dropped. */
  transformed?(input: Message, result: { readonly outputs: number; readonly failures: number }, tookMs: number): void;
  /** A batch was taken for writing; its first message waited this long. */
  taken?(outlet: Outlet, messages: number, waitedMs: number): void;
  /** These are durable; the attempt took this long. */
  written?(outlet: Outlet, messages: readonly Message[], tookMs: number): void;
  failed?(failed: Failed): void;
  /** So many messages will not be written there: they go to the error sink, or end the run. */
  gaveUp?(outlet: Outlet, messages: number): void;
  committed?(origins: readonly Origin[], tookMs: number): void;
}

/** Where messages leave. */
export interface Outlet {
  readonly role: 'main' | 'route' | 'errors';
  /** As it stands in metrics and logs: that of a route is its condition, and may well be `error`. */
  readonly name: string;
}

export const MAIN: Outlet = { role: 'main', name: 'default' };
export const ERRORS: Outlet = { role: 'errors', name: 'error' };
export const routeOutlet = (condition: string): Outlet => ({ role: 'route', name: condition });

export type Connector = { readonly role: 'source' } | { readonly role: 'sink'; readonly outlet: Outlet };

/** What did not work. An attempt to write that is made again is told each time. */
export type Failed =
  | {
      readonly stage: 'connect' | 'write';
      readonly outlet: Outlet;
      readonly type: ErrorType;
      readonly messages: number;
    }
  | {
      readonly stage: 'transform';
      readonly transformation: number;
      readonly type: ErrorType;
      readonly messages: number;
    }
  | { readonly stage: 'read' | 'decode' | 'commit'; readonly type: ErrorType; readonly messages: number };
