import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CONFIG_MAPS, TestServer } from '../test-server.ts';

const names = (items: readonly { readonly metadata: { readonly name: string } }[] | undefined) =>
  (items ?? []).map(({ metadata }) => metadata.name);

const tokenOf = ({ continue: token }: Readonly<Record<string, unknown>>) =>
  typeof token === 'string' ? token : undefined;

describe('a list', () => {
  it('in pages shows what was there at the first page, whatever happens in between', async () => {
    const write = fc.record({ name: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'), remove: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(
        fc.array(write, { maxLength: 8 }),
        fc.array(write, { maxLength: 4 }),
        async (before, between) => {
          const test = new TestServer();
          const carryOut = async (writes: typeof before) => {
            for (const { name, remove } of writes) {
              if (remove) await test.call('DELETE', `${CONFIG_MAPS}/${name}`);
              else await test.call('POST', CONFIG_MAPS, { metadata: { name } });
            }
          };
          await carryOut(before);
          const whole = names((await test.must('GET', CONFIG_MAPS)).items);
          const paged: string[] = [];
          let token: string | undefined = '';
          while (token !== undefined) {
            const page = await test.must('GET', `${CONFIG_MAPS}?limit=2&continue=${token}`);
            paged.push(...names(page.items));
            token = tokenOf(page.metadata);
            await carryOut(between);
          }
          expect(paged).toEqual(whole);
        },
      ),
      { numRuns: 40 },
    );
  });

  it('whose first page is forgotten can be continued inconsistently', async () => {
    const test = new TestServer();
    for (const name of ['a', 'b', 'c']) await test.configMap(name);
    const first = await test.must('GET', `${CONFIG_MAPS}?limit=1`);
    await test.must('DELETE', `${CONFIG_MAPS}/b`);
    test.server.compact();
    const late = await test.call('GET', `${CONFIG_MAPS}?limit=1&continue=${tokenOf(first.metadata)}`);
    expect(late.status).toBe(410);
    const { metadata }: { metadata: { continue: string } } = JSON.parse(late.text);
    const rest = await test.must('GET', `${CONFIG_MAPS}?continue=${metadata.continue}`);
    expect(names(rest.items)).toEqual(['c']);
  });

  it('of a version to come waits for it, and gives up after three seconds', async () => {
    const test = new TestServer();
    const path = `${CONFIG_MAPS}?resourceVersion=${test.server.revision + 1}`;
    const served = test.call('GET', path);
    await test.configMap('a');
    expect((await served).status).toBe(200);
    const late = test.call('GET', `${CONFIG_MAPS}?resourceVersion=${test.server.revision + 1}`);
    await test.clock.advance(3_000);
    expect((await late).status).toBe(504);
    expect(test.clock.pending).toBe(0);
  });
});
