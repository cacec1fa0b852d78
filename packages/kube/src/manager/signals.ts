/** What is needed of the process. */
export interface Signalled {
  on(signal: NodeJS.Signals, listener: (signal: NodeJS.Signals) => void): unknown;
  off(signal: NodeJS.Signals, listener: (signal: NodeJS.Signals) => void): unknown;
  exit(code: number): void;
}

/**
 * Aborts at the first SIGINT or SIGTERM. The second one ends the process at once: somebody is tired of waiting.
 * `dispose` takes the handlers away again.
 */
export function stopSignal(process: Signalled): { readonly signal: AbortSignal; dispose(): void } {
  const stop = new AbortController();
  const onSignal = (name: NodeJS.Signals) => {
    if (stop.signal.aborted) process.exit(name === 'SIGINT' ? 130 : 143);
    else stop.abort(new Error(`received ${name}`));
  };
  const signals: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM'];
  for (const signal of signals) process.on(signal, onSignal);
  return {
    signal: stop.signal,
    dispose() {
      for (const signal of signals) process.off(signal, onSignal);
    },
  };
}
