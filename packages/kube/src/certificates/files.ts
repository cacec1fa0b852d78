import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock, Timer } from '../clock/index.ts';
import { type Logger, messageOf } from '../log.ts';
import { expiryOf, isPair, type Pair } from './pair.ts';
import { type CertificateSource, CurrentPair } from './source.ts';

export interface WatchFilesOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** Told of every reading, for metrics. */
  readonly on?: CertificateFileEvents | undefined;
}

export interface CertificateFileEvents {
  read?(): void;
  failed?(): void;
}

const LOOK_EVERY_MS = 10_000;

/**
 * The pair `tls.crt` and `tls.key` of a directory, as cert-manager and mounted Secrets have it. The files are looked at, not
 * watched: Kubernetes replaces a mounted Secret by swapping a symbolic link above them, of which a watch on the files hears
 * nothing. Throws if there is no usable pair to begin with; later, a bad one is loud and the last good one stays.
 */
export function watchFiles(directory: string, { clock, log, on }: WatchFilesOptions): CertificateSource {
  const current = new CurrentPair();
  let timer: Timer;

  const look = () => {
    const pair = readPair(directory);
    on?.read?.();
    if (current.set(pair)) {
      log.info({ directory, validUntil: new Date(expiryOf(pair.certificate)).toISOString() }, 'certificate loaded');
    }
  };
  const lookAgain = () => {
    timer = clock.after(LOOK_EVERY_MS, () => {
      try {
        look();
      } catch (error) {
        on?.failed?.();
        log.error({ directory, error: messageOf(error) }, 'certificate not loaded, keeping the last one');
      }
      lookAgain();
    });
  };

  look();
  lookAgain();
  return {
    get current() {
      return current.pair;
    },
    subscribe: (listener) => current.subscribe(listener),
    async stop() {
      timer.cancel();
    },
  };
}

function readPair(directory: string): Pair {
  const read = (name: string) => readFileSync(join(directory, name), 'utf8');
  const pair = { certificate: read('tls.crt'), key: read('tls.key') };
  if (!isPair(pair)) throw new Error(`${directory}: tls.key is not the key of tls.crt`);
  return pair;
}
