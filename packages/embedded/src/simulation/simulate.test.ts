import { Client, ConfigMap, sleep } from '@polder/kube';
import { expect, test } from 'vitest';
import {
  type Actor,
  crashAtEveryWrite,
  type Process,
  quiet,
  type Scenario,
  Simulation,
  SimulationFailure,
  type State,
  seeds,
  simulate,
  type World,
} from './index.ts';

const ref = (name: string) => ({ namespace: 'default', name });
const clientOf = ({ transport, clock }: Process) => new Client({ transport, userAgent: 'actor', clock });
const put = (client: Client, name: string, value: string) =>
  client.apply(ConfigMap, { metadata: ref(name), data: { value } }, { fieldManager: 'test', force: true });
const valueOf = (state: State, name: string) => state.get(ConfigMap, ref(name))?.data?.['value'];

/** Keeps `copy` equal to `original`, by looking every second. */
const copyist: Actor = async (process) => {
  const client = clientOf(process);
  for (;;) {
    try {
      const { data } = await client.get(ConfigMap, ref('original'));
      const copy = await client.get(ConfigMap, ref('copy')).catch(() => undefined);
      if (data?.['value'] !== copy?.data?.['value']) await put(client, 'copy', data?.['value'] ?? '');
    } catch (error) {
      process.log.warn({ error: String(error) }, 'trying again');
    }
    await sleep(process.clock, 1_000);
  }
};
const worldOf = (actor: Actor) => (): World => ({ actors: { actor } });
const scenario: Scenario = ['1', '2', '3'].map((value) => (client: Client) => put(client, 'original', value));
const isCopied = (state: State) => valueOf(state, 'original') === '3' && valueOf(state, 'copy') === '3';

test('the same seed gives the same trace and the same objects, byte for byte; another seed does not', async () => {
  const run = async (seed: number) => {
    const { trace, state } = await simulate({ seed, world: worldOf(copyist), scenario, until: isCopied });
    return { trace: trace.toString(), objects: [...state.texts()] };
  };
  for (const seed of seeds(5)) {
    const [once, again, other] = [await run(seed), await run(seed), await run(seed + 1)];
    expect(again.trace).toBe(once.trace);
    expect(again.objects).toEqual(once.objects);
    expect(other.trace).not.toBe(once.trace);
  }
});

test('a failure says what, when and after what, and how to see it again', async () => {
  const invariants = {
    'nothing is copied'(state: State) {
      const value = valueOf(state, 'copy');
      if (value !== undefined) throw new Error(`the copy is ${value}`);
    },
  };
  const failed = simulate({ seed: 7, world: worldOf(copyist), scenario, until: isCopied, invariants, faults: [] });
  const error: unknown = await failed.catch((error: unknown) => error);
  expect(error).toBeInstanceOf(SimulationFailure);
  const [what, how, , ...trace] = String(error).split('\n');
  expect(what).toMatch(/^SimulationFailure: "nothing is copied" does not hold: the copy is \d$/);
  expect(how).toMatch(/^ {2}seed 7, after \d+\.\d{6} s; again with: POLDER_SEED=7 npx vitest run --project unit /);
  expect(how).toMatch(/packages\/embedded\/src\/simulation\/simulate\.test\.ts$/);
  expect(trace.join('\n')).toMatch(
    /actor {8}→ \d+ PATCH .*\/configmaps\/copy.*\n.*store {8}keeps configmaps default\/copy @\d+/,
  );
  expect(trace.length).toBeLessThanOrEqual(41);
});

test('an invariant sees every state that is stored, even one that nobody reads', async () => {
  const seen: (string | undefined)[] = [];
  const world = { actors: {} };
  const note = (state: State) => void seen.push(valueOf(state, 'original'));
  const simulation = new Simulation({ seed: 1, world, invariants: { note } });
  seen.length = 0;
  for (const value of ['1', '2', '3']) await put(simulation.client, 'original', value);
  expect(seen).toEqual(['1', '2', '3']);
});

test('a process that is killed does nothing more, and what it had sent still arrives', async () => {
  const done: string[] = [];
  const simulation = new Simulation({ seed: 1, world: { actors: {} } });
  const process = simulation.run('actor', async (process) => {
    process.clock.after(1_000, () => done.push('a timer'));
    await put(clientOf(process), 'sent', '1');
    done.push('an answer');
  });
  process.kill();
  await simulation.pass(60_000);
  expect(valueOf(simulation.state, 'sent')).toBe('1');
  expect(done).toEqual([]);
  expect(simulation.clock.pending).toBe(0);
});

test('a process that stands still goes on where it was, late', async () => {
  const fired: number[] = [];
  const simulation = new Simulation({ seed: 1, world: { actors: {} } });
  const { clock } = simulation.run('actor', async ({ clock }) => {
    for (const ms of [3_000, 1_000, 90_000]) clock.after(ms, () => fired.push(clock.monotonic()));
    clock.after(2_000, () => {}).cancel();
  });
  clock.hold();
  await simulation.pass(60_000);
  expect(fired).toEqual([]);
  clock.release();
  await simulation.pass(60_000);
  expect(fired).toEqual([60_000, 60_000, 90_000]);
});

test('an actor that fails fails the simulation', async () => {
  const broken = async () => {
    throw new Error('out of paper');
  };
  const run = simulate({ seed: 1, world: worldOf(broken), until: () => true, faults: [] });
  await expect(run).rejects.toThrow('actor failed: out of paper');
});

test('an actor that runs in circles is found out', async () => {
  const dizzy: Actor = async ({ clock }) => {
    for (;;) await sleep(clock, 0);
  };
  const run = simulate({ seed: 1, world: worldOf(dizzy), until: () => false, faults: [] });
  await expect(run).rejects.toThrow('something runs in circles');
});

test('an actor that can’t leave alone what is done is not quiet', async () => {
  const restless: Actor = async (process) => {
    const client = clientOf(process);
    for (;;) {
      const original = await client.get(ConfigMap, ref('original')).catch(() => undefined);
      await put(client, 'copy', original?.data?.['value'] ?? '');
      await sleep(process.clock, 1_200_000);
    }
  };
  const trial = { scenario, isConverged: isCopied };
  await expect(quiet({ ...trial, world: worldOf(copyist) })).resolves.toBeUndefined();
  await expect(quiet({ ...trial, world: worldOf(restless) })).rejects.toThrow(
    /there were 3 writes and 0 events within 3600 s:\nactor PATCH .*\/configmaps\/copy/,
  );
});

test('an actor that relies on its memory does not survive a crash', async () => {
  const forgetful: Actor = async (process) => {
    const client = clientOf(process);
    for (const name of ['first', 'second']) await client.create(ConfigMap, { metadata: ref(name) });
  };
  const trial = { scenario: [], isConverged: (state: State) => state.get(ConfigMap, ref('second')) !== undefined };
  await expect(crashAtEveryWrite({ ...trial, world: worldOf(forgetful) })).rejects.toThrow(
    'killed after write 1: actor failed: configmaps "first" already exists',
  );
  expect(await crashAtEveryWrite({ scenario, isConverged: isCopied, world: worldOf(copyist) })).toBeGreaterThan(0);
});
