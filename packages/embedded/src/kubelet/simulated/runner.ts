import { isDeepStrictEqual } from 'node:util';
import { type Clock, type Pod, sleep, type Timer } from '@polder/kube';
import { type Ending, type Health, type Launch, type Runner, type RunningContainer, StartFailure } from '../runner.ts';
import { type Behaviour, behaviourOf, STAGES, type Stage } from './behaviour.ts';

/** Runs nothing: its containers only do as the stages and the pod's annotations say. */
export function simulated(clock: Clock, stages: readonly Stage[] = STAGES): Runner {
  return {
    name: 'simulated',
    isReachable: false,
    prepare: async () => {},
    async start(launch) {
      const { fails, startsAfterMs } = behaviourOf(launch.pod, stages);
      if (fails) throw new StartFailure(fails.reason, fails.message);
      await sleep(clock, startsAfterMs);
      return new SimulatedContainer(clock, stages, launch, clock.now());
    },
    // It outlives the program that simulated it, as the pods of a real node outlive its kubelet.
    resume: async (launch, startedAt) => new SimulatedContainer(clock, stages, launch, startedAt),
    logs: async () => 'This container is simulated: nothing runs, so nothing is written.\n',
    clean: async () => {},
  };
}

class SimulatedContainer implements RunningContainer {
  readonly startedAt: number;
  readonly ended: Promise<Ending>;
  readonly #clock: Clock;
  readonly #stages: readonly Stage[];
  readonly #changed: () => void;
  #behaviour: Behaviour;
  #timers: Timer[] = [];
  #isReady = false;
  #isStopping = false;
  #end: (ending: Ending) => void = () => {};

  constructor(clock: Clock, stages: readonly Stage[], { pod, changed }: Launch, startedAt: number) {
    this.#clock = clock;
    this.#stages = stages;
    this.#changed = changed;
    this.startedAt = startedAt;
    this.ended = new Promise((resolve) => (this.#end = resolve));
    this.#behaviour = behaviourOf(pod, stages);
    this.#arm();
  }

  health(): Health {
    return { isStarted: true, isReady: this.#isReady };
  }

  heed(pod: Pod): void {
    if (this.#isStopping) return;
    const behaviour = behaviourOf(pod, this.#stages);
    if (isDeepStrictEqual(behaviour, this.#behaviour)) return;
    this.#behaviour = behaviour;
    this.#arm();
  }

  terminate(): void {
    this.#isStopping = true;
    this.#endAfter(this.#behaviour.stopsAfterMs, { exitCode: 0 });
  }

  kill(): void {
    this.#finish({ exitCode: 137, signal: 9 });
  }

  probe(): Promise<{ is: 'healthy' }> {
    return Promise.resolve({ is: 'healthy' });
  }

  exec(): Promise<{ exitCode: number; output: string }> {
    return Promise.resolve({ exitCode: 0, output: '' });
  }

  /** What was asked for counts from the start of the container, also when it is asked for later. */
  #arm(): void {
    this.#disarm();
    const { readyAfterMs, exits } = this.#behaviour;
    const left = (ms: number) => this.startedAt + ms - this.#clock.now();
    const become = (isReady: boolean) => {
      if (this.#isReady === isReady) return;
      this.#isReady = isReady;
      this.#changed();
    };
    if (readyAfterMs === undefined) become(false);
    else if (left(readyAfterMs) <= 0) become(true);
    else this.#timers.push(this.#clock.after(left(readyAfterMs), () => become(true)));
    if (!exits) return;
    const { afterMs, code, message } = exits;
    this.#endAfter(left(afterMs), { exitCode: code, ...(message !== undefined && { message }) });
  }

  #endAfter(ms: number, ending: Omit<Ending, 'at'>): void {
    this.#timers.push(this.#clock.after(Math.max(0, ms), () => this.#finish(ending)));
  }

  #finish(ending: Omit<Ending, 'at'>): void {
    this.#disarm();
    this.#end({ ...ending, at: this.#clock.now() });
  }

  #disarm(): void {
    for (const timer of this.#timers) timer.cancel();
    this.#timers = [];
  }
}
