import { type Clock, type Container, messageOf, type Probe, sleep, withTimeout } from '@polder/kube';
import type { Health, ProbeAnswer, RunningContainer } from './runner.ts';

export type ProbeKind = 'startup' | 'readiness' | 'liveness';

export interface ProbingOptions {
  readonly clock: Clock;
  readonly container: RunningContainer;
  readonly spec: Container;
  readonly changed: (health: Health) => void;
  /** Told of every answer that is a failure. */
  readonly failed: (kind: ProbeKind, because: string) => void;
}

/** Before its probes have said anything: not ready if it is probed for that, not started if it is probed for that. */
export function firstHealth({ startupProbe, readinessProbe }: Container): Health {
  return { isStarted: startupProbe === undefined, isReady: startupProbe === undefined && readinessProbe === undefined };
}

/** Asks a container's probes, each at its own pace, until the signal aborts. The startup probe comes before the others. */
export async function probing({ clock, container, spec, changed, failed }: ProbingOptions, signal: AbortSignal) {
  let health = firstHealth(spec);
  const become = (change: Partial<Health>) => {
    health = { ...health, ...change };
    changed(health);
  };
  const follow = async (kind: ProbeKind, probe: Probe, verdict: (isHealthy: boolean, because: string) => boolean) => {
    // Counted from the start of the container, also for the probes that wait for the startup probe.
    const firstAt = container.startedAt + (probe.initialDelaySeconds ?? 0) * 1000;
    await sleep(clock, Math.max(0, firstAt - clock.now()), signal);
    const count = new Count(probe);
    for (;;) {
      const answer = await ask(clock, container, probe, signal);
      if (answer.is === 'unhealthy') failed(kind, answer.because);
      const isHealthy = count.next(answer);
      if (isHealthy !== undefined && verdict(isHealthy, answer.is === 'unhealthy' ? answer.because : '')) return;
      await sleep(clock, (probe.periodSeconds ?? 10) * 1000, signal);
    }
  };
  const { startupProbe, readinessProbe, livenessProbe } = spec;
  try {
    if (startupProbe) {
      await follow('startup', startupProbe, (isHealthy) => {
        if (isHealthy) become({ isStarted: true, isReady: readinessProbe === undefined });
        else become({ unhealthy: 'startup' });
        return true;
      });
    }
    if (health.unhealthy !== undefined) return;
    const isNews = (isReady: boolean) => isReady !== health.isReady;
    await Promise.all([
      readinessProbe &&
        follow('readiness', readinessProbe, (isReady) => {
          if (isNews(isReady)) become({ isReady });
          return false;
        }),
      livenessProbe &&
        follow('liveness', livenessProbe, (isAlive) => {
          if (!isAlive) become({ unhealthy: 'liveness' });
          return !isAlive;
        }),
    ]);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

async function ask(clock: Clock, container: RunningContainer, probe: Probe, outer: AbortSignal): Promise<ProbeAnswer> {
  const ms = (probe.timeoutSeconds ?? 1) * 1000;
  try {
    return await withTimeout(clock, ms, outer, 'the probe', (signal) => container.probe(probe, signal));
  } catch (error) {
    outer.throwIfAborted();
    return { is: 'unhealthy', because: messageOf(error) };
  }
}

/** Answers in a row: only so many of a kind are a verdict. */
class Count {
  readonly #needed: { readonly healthy: number; readonly unhealthy: number };
  #last: ProbeAnswer['is'] | undefined;
  #times = 0;

  constructor({ successThreshold = 1, failureThreshold = 3 }: Probe) {
    this.#needed = { healthy: successThreshold, unhealthy: failureThreshold };
  }

  /** Undefined while the answers are too few to say. */
  next({ is }: ProbeAnswer): boolean | undefined {
    this.#times = is === this.#last ? this.#times + 1 : 1;
    this.#last = is;
    return this.#times >= this.#needed[is] ? is === 'healthy' : undefined;
  }
}
