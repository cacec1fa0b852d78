import type { Situation } from './situation.ts';

/** Whoever knows better can say so. */
export const JUMP_ANNOTATION = 'qdrant.operator/allow-version-jump';

interface Version {
  readonly major: number;
  readonly minor: number;
  readonly text: string;
}

/** Of the tag of an image: `qdrant/qdrant:v1.19.0-unprivileged`. A digest or `latest` says nothing. */
export const tagOf = (image: string): string | undefined => /:v?(\d+\.\d+\.\d+)[^/]*$/.exec(image)?.[1];

function versionOf(text: string | undefined): Version | undefined {
  const [major, minor] = text?.split('.').map(Number) ?? [];
  return text === undefined || major === undefined || minor === undefined ? undefined : { major, minor, text };
}

/** Whether a version is of this minor version or of a later one. */
export function isFrom(text: string, major: number, minor: number): boolean {
  const version = versionOf(text);
  return version !== undefined && (version.major > major || (version.major === major && version.minor >= minor));
}

/**
 * Peers of neighbouring minor versions understand each other, and a peer reads what the version before it wrote. Nobody
 * promises more. Why an image may not be next; undefined if it may, or if nothing is known.
 */
export function objectionTo(image: string, before: string, { cluster, sight }: Situation): string | undefined {
  if (cluster.metadata.annotations?.[JUMP_ANNOTATION] === 'true') return undefined;
  const to = versionOf(tagOf(image));
  const running = sight.members.map(({ view }) => versionOf(view.version));
  for (const from of [...running, ...(running.length === 0 ? [versionOf(tagOf(before))] : [])]) {
    if (!to || !from) continue;
    const steps = to.major === from.major ? to.minor - from.minor : Number.NaN;
    if (steps === 0 || steps === 1) continue;
    const way =
      steps > 1 ? `go through ${from.major}.${from.minor + 1} first` : 'a version does not read what a later one wrote';
    return `from ${from.text} to ${to.text}: ${way}; annotate ${JUMP_ANNOTATION}=true to do it all the same`;
  }
  return undefined;
}
