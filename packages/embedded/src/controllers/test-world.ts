/** A world for tests of controllers: the embedded API server, controllers and pods that do as they are told, on a virtual clock. */
import { Client, Manager, Pod, type Registration, silentLogger, timestamp, VirtualClock } from '@polder/kube';
import { type ApiServer, createApiServer } from '../apiserver/index.ts';
import { Random } from '../simulation/random.ts';

export class TestWorld {
  readonly clock = new VirtualClock();
  readonly server: ApiServer;
  /** A user's client. */
  readonly client: Client;
  /** `PATCH /apis/…`: what the controllers wrote, in order; events apart. */
  readonly writes: string[] = [];
  readonly #stop = new AbortController();
  #running: Promise<void> = Promise.resolve();

  constructor() {
    this.server = createApiServer({ clock: this.clock, random: new Random(1).next });
    this.client = new Client({ transport: this.server.transport(), userAgent: 'user', clock: this.clock });
  }

  run(...controllers: readonly Registration[]): this {
    const transport = this.server.transport();
    const manager = new Manager({
      transport: {
        request: (request) => {
          const isEvent = request.path.includes('/events');
          if (request.method !== 'GET' && !isEvent) this.writes.push(`${request.method} ${request.path}`);
          return transport.request(request);
        },
        close: () => transport.close(),
      },
      userAgent: 'controllers',
      clock: this.clock,
      random: new Random(2).next,
      log: silentLogger,
      products: [{ name: 'controllers', fieldManager: 'kube-controller-manager', controllers }],
      freeze: true,
    });
    this.#running = manager.run(this.#stop.signal);
    return this;
  }

  /** Lets everything happen that needs no more than `ms`. */
  async settle(ms = 2_000): Promise<void> {
    await this.clock.advance(ms);
  }

  /** Lets time pass, with pods that run, end and go as soon as they can, until `isSo`. */
  async until(what: string, isSo: () => Promise<boolean> | boolean, limitMs = 600_000): Promise<void> {
    const deadline = this.clock.now() + limitMs;
    while (!(await isSo())) {
      if (this.clock.now() >= deadline) throw new Error(`after ${limitMs / 1000} s it was still not so that ${what}`);
      await this.clock.advance(100);
      await this.runPods();
    }
  }

  async pods(namespace = 'default'): Promise<readonly Pod[]> {
    return (await this.client.list(Pod, { namespace })).items;
  }

  /** Pods that wait become ready, and those that are being deleted go. */
  async runPods(): Promise<void> {
    for (const pod of (await this.client.list(Pod)).items) {
      if (pod.metadata.deletionTimestamp !== undefined) await this.finishDeletion(pod);
      else if ((pod.status?.phase ?? 'Pending') === 'Pending')
        await this.report(pod, { phase: 'Running', ready: true });
    }
  }

  /** Says of a pod what its kubelet would. */
  async report(pod: Pod, { phase, ready }: { readonly phase: string; readonly ready: boolean }): Promise<void> {
    const time = timestamp(this.clock.now());
    const status = ready ? 'True' : 'False';
    const conditions = ['Initialized', 'ContainersReady', 'Ready'].map((type) => ({
      type,
      status: type === 'Initialized' ? 'True' : status,
      lastTransitionTime: time,
    }));
    const body = { status: { phase, conditions, startTime: pod.status?.startTime ?? time, podIP: '10.244.0.1' } };
    await this.client.patch(Pod, pod.metadata, { type: 'strategic', body }, { subresource: 'status' });
  }

  /** What a kubelet does when all containers of a deleted pod have ended. */
  async finishDeletion(pod: Pod): Promise<void> {
    await this.client.delete(Pod, pod.metadata, { gracePeriodSeconds: 0 });
  }

  async stop(): Promise<void> {
    this.#stop.abort(new Error('the test is over'));
    let isStopped = false;
    const settle = () => (isStopped = true);
    this.#running.then(settle, settle);
    await this.until('the controllers have stopped', () => isStopped);
    await this.#running;
  }
}
