import { readFile } from 'node:fs/promises';
import {
  Client,
  ConfigMap,
  CustomResourceDefinition,
  crdOf,
  isNotFound,
  Manager,
  Namespace,
  register,
  silentLogger,
  type Transport,
} from '@polder/kube';
import { expect } from 'vitest';
import { parse } from 'yaml';
import { Greeting, greetings } from './greetings.ts';

/** What the README shows, on whatever API server is behind the transport. */
export async function greetingScenario(transport: Transport): Promise<void> {
  const client = new Client({ transport, userAgent: 'scenario' });
  await client.apply(CustomResourceDefinition, crdOf(Greeting), { fieldManager: 'greetings', force: true });
  await expect.poll(() => isServed(client), { timeout: 30_000 }).toBe(true);
  const { metadata } = await client.create(Namespace, { metadata: { generateName: 'greetings-' } });
  const namespace = metadata.name;

  const stop = new AbortController();
  const product = {
    name: 'greetings',
    fieldManager: 'greetings',
    controllers: [register(greetings)],
  };
  const manager = new Manager({
    transport,
    userAgent: 'greetings/1.0',
    log: silentLogger,
    products: [product],
    freeze: true,
  });
  const running = manager.run(stop.signal);
  try {
    const manifest: Greeting = parse(await readFile(new URL('greeting.yaml', import.meta.url), 'utf8'));
    await client.create(Greeting, { ...manifest, metadata: { ...manifest.metadata, namespace } });
    const hello = { namespace, name: 'hello' };
    const text = (name: string) =>
      client.get(ConfigMap, { namespace, name }).then(({ data }) => data?.['text'], nothingIfNotFound);
    const ready = async () => {
      const { status } = await client.get(Greeting, hello);
      return status?.conditions?.find(({ type }) => type === 'Ready');
    };
    await expect.poll(() => text('hello-text'), { timeout: 30_000 }).toBe('Hello, world!');
    await expect.poll(ready, { timeout: 30_000 }).toMatchObject({ status: 'True' });

    await client.patch(
      ConfigMap,
      { namespace, name: 'hello-text' },
      { type: 'merge', body: { metadata: { labels: { 'in-use': 'true' } } } },
    );
    await client.patch(Greeting, hello, { type: 'merge', body: { spec: { configMap: 'other-text' } } });
    const held = 'remove-config-map is held by keep-what-is-in-use: hello-text is labelled in-use=true';
    await expect.poll(ready, { timeout: 30_000 }).toMatchObject({ status: 'False', reason: 'Held', message: held });
    expect(await text('hello-text')).toBe('Hello, world!');

    await client.patch(
      ConfigMap,
      { namespace, name: 'hello-text' },
      { type: 'merge', body: { metadata: { labels: { 'in-use': null } } } },
    );
    await expect.poll(() => text('hello-text'), { timeout: 30_000 }).toBeUndefined();
    await expect.poll(() => text('other-text'), { timeout: 30_000 }).toBe('Hello, world!');
    await expect.poll(ready, { timeout: 30_000 }).toMatchObject({ status: 'True' });
  } finally {
    stop.abort();
    await running;
  }
}

/** A new kind is served a moment after its definition was accepted. */
async function isServed(client: Client): Promise<boolean> {
  return client.list(Greeting).then(
    () => true,
    (error: unknown) => {
      if (!isNotFound(error)) throw error;
      return false;
    },
  );
}

function nothingIfNotFound(error: unknown): undefined {
  if (!isNotFound(error)) throw error;
}
