import { createApiServer } from '@polder/embedded';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Cache, Client, ConfigMap, type StoreEvent, silentLogger, type Transport, VirtualClock } from '../src/index.ts';

type Step =
  | { readonly do: 'write'; readonly name: string; readonly value: string }
  | { readonly do: 'delete'; readonly name: string }
  | { readonly do: 'pass'; readonly ms: number }
  | { readonly do: 'compact' }
  | {
      readonly do: 'fault';
      readonly fault: 'reset' | 'close' | 'silence' | 'expire' | 'duplicate' | 'delay' | 'throttle';
    };

const name = fc.constantFrom('a', 'b', 'c');
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant('write' as const), name, value: fc.constantFrom('1', '2') }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('delete' as const), name }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.constantFrom(0, 50, 1_000, 100_000) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('compact' as const) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('fault' as const),
      fault: fc.constantFrom('reset', 'close', 'silence', 'expire', 'duplicate', 'delay', 'throttle'),
    }),
  },
);

const FAULTS = {
  reset: { do: 'reset' },
  close: { do: 'close' },
  silence: { do: 'silence' },
  expire: { do: 'expire' },
  duplicate: { do: 'duplicate' },
  delay: { do: 'delay', ms: 500 },
  throttle: { do: 'throttle', retryAfterSeconds: 1 },
} as const;

/** A server from before streaming lists: it refuses to send initial events. */
function withoutStreaming(transport: Transport): Transport {
  return {
    ...transport,
    async request(request) {
      const path = request.path.includes('sendInitialEvents')
        ? request.path.replace('&resourceVersionMatch=NotOlderThan', '')
        : request.path;
      return transport.request({ ...request, path });
    },
  };
}

test.each([
  ['streams lists', (transport: Transport) => transport],
  ['knows only pages', withoutStreaming],
])(
  'whatever happens to a server that %s, the cache ends equal to it, and no change is told twice or missed',
  async (_, wrap) => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        const clock = new VirtualClock();
        let seed = 0;
        const random = () => (seed = (seed * 16_807 + 7) % 2_147_483_647) / 2_147_483_647;
        const server = createApiServer({ clock, random });
        const user = new Client({ transport: server.transport(), userAgent: 'user', clock });
        const client = new Client({ transport: wrap(server.transport()), userAgent: 'cache', clock });
        const cache = new Cache({ client, clock, random, log: silentLogger, freeze: true });
        const store = cache.of(ConfigMap);
        const heard = new Map<string, string | undefined>();
        const wrong: string[] = [];
        store.subscribe((event: StoreEvent<ConfigMap>) => {
          const { name, resourceVersion } = event.object.metadata;
          const isNews = event.type === 'deleted' || heard.get(name) !== resourceVersion;
          if (heard.has(name) !== (event.type !== 'added') || !isNews)
            wrong.push(`${event.type} ${name} ${resourceVersion}`);
          if (event.type === 'deleted') heard.delete(name);
          else heard.set(name, resourceVersion);
        });
        cache.start();
        for (const one of steps) {
          if (one.do === 'pass') await clock.advance(one.ms);
          else if (one.do === 'compact') server.compact();
          else if (one.do === 'fault') server.faults.on({ verb: 'watch', count: 1 }, FAULTS[one.fault]);
          else if (one.do === 'delete')
            await user.delete(ConfigMap, { namespace: 'default', name: one.name }).catch(() => {});
          else {
            const object = { metadata: { namespace: 'default', name: one.name }, data: { value: one.value } };
            await user.apply(ConfigMap, object, { fieldManager: 'user', force: true });
          }
        }
        server.faults.clear();
        await clock.advance(300_000);
        expect(wrong).toEqual([]);
        const { items } = await user.list(ConfigMap);
        const versions = (objects: readonly ConfigMap[]) =>
          objects.map(({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`).toSorted();
        expect(versions(store.list())).toEqual(versions(items));
        expect([...heard].map((pair) => pair.join(' ')).toSorted()).toEqual(versions(items));
        const stopped = cache.stop();
        await clock.advance(0);
        await stopped;
        server.close();
        expect(clock.pending).toBe(0);
      }),
      { numRuns: 150 },
    );
  },
);
