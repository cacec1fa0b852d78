/**
 * Aborts at the first SIGINT or SIGTERM. The second one ends the process at once: somebody is tired of waiting.
 * `dispose` takes the handlers away again.
 */
export function stopSignal(process: NodeJS.Process): { readonly signal: AbortSignal; dispose(): void } {
  const stop = new AbortController();
  const onSignal = (name: NodeJS.Signals) => {
    if (stop.signal.aborted) process.exit(name === 'SIGINT' ? 130 : 143);
    stop.abort(new Error(`received ${name}`));
  };
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
  return {
    signal: stop.signal,
    dispose: () => void process.off('SIGINT', onSignal).off('SIGTERM', onSignal),
  };
}
