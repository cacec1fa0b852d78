import type { Logger } from '../log.ts';

export interface Warnings {
  take(header: string | undefined): void;
}

/** A warning is news once. The bound keeps a server that puts names into its warnings from filling our memory. */
const MOST_REMEMBERED = 1000;

/** Logs what the server warns about (deprecated versions, unknown fields), each text once. */
export function warningsTo(log: Logger): Warnings {
  const known = new Set<string>();
  return {
    take(header) {
      if (header === undefined) return;
      for (const text of textsOf(header)) {
        if (known.has(text) || known.size >= MOST_REMEMBERED) continue;
        known.add(text);
        log.warn({ warning: text }, 'the API server warns');
      }
    },
  };
}

/** `299 - "text", 299 - "another \"quoted\" text"`. */
export function textsOf(header: string): string[] {
  return [...header.matchAll(/\b299 \S+ "((?:[^"\\]|\\.)*)"/g)].map((match) =>
    (match[1] ?? '').replace(/\\(.)/g, '$1'),
  );
}
