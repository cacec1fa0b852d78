import { type Client, isAlreadyExists, isConflict, isNotFound } from '../client/index.ts';
import { type Clock, sleep } from '../clock/index.ts';
import { keyOf, Secret } from '../kinds/index.ts';
import { type Logger, messageOf } from '../log.ts';
import { type BundleTarget, putBundle } from './bundle.ts';
import { expiryOf } from './pair.ts';
import { carryOut, type Held, nextStep } from './rotation.ts';
import { heldIn, secretData } from './secret.ts';
import { type CertificateSource, CurrentPair } from './source.ts';

export interface ManagedCertificatesOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  /** Where the authority and the serving pair are kept, for all replicas. */
  readonly secret: { readonly namespace: string; readonly name: string };
  /** The Services by which the API server reaches us. */
  readonly services: readonly { readonly namespace: string; readonly name: string }[];
  /** Names and addresses by which it reaches us without a Service. */
  readonly hosts?: readonly string[];
  /** What must trust the authority. */
  readonly trustedBy: readonly BundleTarget[];
}

const PASS_EVERY_MS = 60_000;
const RETRY_MS = 10_000;
/** A rotation takes at most three writes; others may come between. */
const MOST_ROUNDS = 20;

/**
 * A serving certificate and its authority that nobody has to look after. Every replica runs this and does the same: reads the
 * Secret, sees to it that the bundle in it is trusted, takes the next step of its rotation if one is due (see `rotation.ts`)
 * and serves the pair in it. Writes are optimistic: whoever comes second finds that it is done.
 *
 * Resolves once there is a pair to serve; tries until then, or until the signal aborts.
 */
export async function managedCertificates(
  options: ManagedCertificatesOptions,
  signal: AbortSignal,
): Promise<CertificateSource> {
  const managed = new ManagedCertificates(options);
  const giveUp = () => void managed.stop();
  signal.addEventListener('abort', giveUp, { once: true });
  try {
    await managed.start();
  } finally {
    signal.removeEventListener('abort', giveUp);
  }
  signal.throwIfAborted();
  return managed;
}

class ManagedCertificates implements CertificateSource {
  readonly #options: ManagedCertificatesOptions;
  readonly #hosts: readonly string[];
  readonly #current = new CurrentPair();
  readonly #stop = new AbortController();
  #passes: Promise<void> = Promise.resolve();
  /** The bundle that was in place, everywhere, at the end of the last pass. */
  #trusted: string | undefined;

  constructor(options: ManagedCertificatesOptions) {
    this.#options = options;
    const ofServices = options.services.flatMap(({ namespace, name }) => [
      `${name}.${namespace}.svc`,
      `${name}.${namespace}`,
      `${name}.${namespace}.svc.cluster.local`,
    ]);
    this.#hosts = [...ofServices, ...(options.hosts ?? [])];
  }

  get current() {
    return this.#current.pair;
  }

  subscribe(listener: () => void): { readonly unsubscribe: () => void } {
    return this.#current.subscribe(listener);
  }

  async stop(): Promise<void> {
    this.#stop.abort(new Error('the certificates are no longer managed'));
    await this.#passes;
  }

  /** Resolves after the first pass that went well. */
  start(): Promise<void> {
    return new Promise((resolve) => {
      this.#passes = this.#run(resolve).finally(resolve);
    });
  }

  async #run(onFirst: () => void): Promise<void> {
    const { clock, log, secret } = this.#options;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      let waitMs = PASS_EVERY_MS;
      try {
        await this.#pass();
        onFirst();
      } catch (error) {
        if (signal.aborted) return;
        waitMs = RETRY_MS;
        log.warn({ secret: keyOf(secret), error: messageOf(error) }, 'certificates not looked after, trying again');
      }
      await sleep(clock, waitMs, signal).catch(() => {});
    }
  }

  async #pass(): Promise<void> {
    const { clock, log, secret: ref } = this.#options;
    for (let round = 0; round < MOST_ROUNDS; round++) {
      const secret = await this.#read();
      const held = secret && heldIn(secret);
      const inPlace = held && (await this.#isInPlace(held)) ? bundleOf(held) : undefined;
      const now = clock.now();
      const isTrusted = inPlace !== undefined && inPlace === this.#trusted;
      const step = nextStep(held, this.#hosts, isTrusted, now);
      if (step.do === 'nothing') {
        this.#trusted = inPlace;
        if (held) this.#serve(held);
        return;
      }
      log.info({ secret: keyOf(ref), step: step.do }, 'renewing certificates');
      await this.#write(secret, await carryOut(step, held, this.#hosts, now));
    }
    throw new Error(`the Secret ${keyOf(ref)} does not keep what is written to it; see who else changes it`);
  }

  #serve({ serving }: Held): void {
    if (!this.#current.set(serving)) return;
    const validUntil = new Date(expiryOf(serving.certificate)).toISOString();
    this.#options.log.info({ secret: keyOf(this.#options.secret), validUntil }, 'serving certificate loaded');
  }

  async #read(): Promise<Secret | undefined> {
    try {
      return await this.#options.client.get(Secret, this.#options.secret, { signal: this.#stop.signal });
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  /** Whoever else wrote meanwhile did the same; the next look shows it. */
  async #write(old: Secret | undefined, held: Held): Promise<void> {
    const { client, secret: metadata } = this.#options;
    const { signal } = this.#stop;
    const data = { ...old?.data, ...secretData(held) };
    try {
      if (old) await client.update(Secret, { ...old, data }, { signal });
      else await client.create(Secret, { metadata, type: 'kubernetes.io/tls', data }, { signal });
    } catch (error) {
      if (!isConflict(error) && !isAlreadyExists(error)) throw error;
    }
  }

  /** Puts the bundle where it is missing. True if it was in place everywhere before: servers need a moment to hear of it. */
  async #isInPlace(held: Held): Promise<boolean> {
    const { client, log, trustedBy } = this.#options;
    let isInPlace = true;
    for (const target of trustedBy) {
      try {
        if (await putBundle(client, target, bundleOf(held), this.#stop.signal)) isInPlace = false;
      } catch (error) {
        // What does not exist (yet) calls nobody.
        if (isNotFound(error)) continue;
        isInPlace = false;
        log.warn(
          { kind: target.kind, name: target.name, error: messageOf(error) },
          'certificate bundle not put in place',
        );
      }
    }
    return isInPlace;
  }
}

function bundleOf(held: Held): string {
  return held.authorities.join('');
}
