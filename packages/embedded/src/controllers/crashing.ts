import { Manager, type Registration, silentLogger } from '@polder/kube';
import { seeded, type TestWorld } from './test-world.ts';

export interface Crashing {
  isCrashed(): boolean;
  /** Resolves when nothing of it runs any more. */
  stop(): Promise<void>;
}

/** For tests: controllers that die after so many writes. No further one reaches the server. */
export function crashingAfter(writes: number, world: TestWorld, controllers: readonly Registration[]): Crashing {
  const transport = world.server.transport();
  const stop = new AbortController();
  let [left, isCrashed] = [writes, false];
  const manager = new Manager({
    transport: {
      async request(request) {
        const isWrite = request.method !== 'GET' && !request.path.includes('/events');
        if (isWrite && left-- <= 0) {
          isCrashed = true;
          throw new Error('crashed');
        }
        return await transport.request(request);
      },
      close: () => transport.close(),
    },
    userAgent: 'controllers',
    clock: world.clock,
    random: seeded(3),
    log: silentLogger,
    products: [{ name: 'controllers', fieldManager: 'kube-controller-manager', controllers }],
  });
  const stopped = manager.run(stop.signal).catch(() => {});
  return {
    isCrashed: () => isCrashed,
    async stop() {
      stop.abort(new Error('crashed'));
      await stopped;
    },
  };
}
