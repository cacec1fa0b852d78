import type { Environment } from '@marcbachmann/cel-js';

const NUMBER = '(0|[1-9]\\d*)';
const STRICT = new RegExp(
  `^${NUMBER}\\.${NUMBER}\\.${NUMBER}(?:-((?:0|[1-9]\\d*|\\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\\.(?:0|[1-9]\\d*|\\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?(?:\\+[0-9a-zA-Z-]+(?:\\.[0-9a-zA-Z-]+)*)?$`,
);

class Semver {
  readonly numbers: readonly bigint[];
  readonly prerelease: readonly string[];

  constructor(numbers: readonly bigint[], prerelease: readonly string[]) {
    this.numbers = numbers;
    this.prerelease = prerelease;
  }

  /** `normalize` forgives a leading `v`, missing numbers and leading zeros. */
  static parse(text: string, normalize = false): Semver | undefined {
    const match = STRICT.exec(normalize ? normalized(text) : text);
    if (match === null) return undefined;
    const [, major = '0', minor = '0', patch = '0', prerelease] = match;
    return new Semver([major, minor, patch].map(BigInt), prerelease?.split('.') ?? []);
  }

  compare(other: Semver): number {
    for (const [index, number] of this.numbers.entries()) {
      const against = other.numbers[index] ?? 0n;
      if (number !== against) return number < against ? -1 : 1;
    }
    if (this.prerelease.length === 0 || other.prerelease.length === 0) {
      return Math.sign(other.prerelease.length - this.prerelease.length);
    }
    for (const [index, part] of this.prerelease.entries()) {
      const against = other.prerelease[index];
      if (against === undefined) return 1;
      if (part !== against) return comparePart(part, against);
    }
    return Math.sign(this.prerelease.length - other.prerelease.length);
  }

  equals(other: unknown): boolean {
    return other instanceof Semver && this.compare(other) === 0;
  }
}

/** Numbers come before words, numbers by size, words by bytes. */
function comparePart(a: string, b: string): number {
  const [isNumber, isOther] = [/^\d+$/.test(a), /^\d+$/.test(b)];
  if (isNumber && isOther) return BigInt(a) < BigInt(b) ? -1 : 1;
  if (isNumber !== isOther) return isNumber ? -1 : 1;
  return a < b ? -1 : 1;
}

function normalized(text: string): string {
  const [, numbers = '', rest = ''] = /^v?([^-+]*)([^]*)$/.exec(text) ?? [];
  const parts = numbers.split('.').map((part) => part.replace(/^0+(?=\d)/, ''));
  while (parts.length < 3) parts.push('0');
  return parts.join('.') + rest;
}

function semverOf(text: string, normalize = false): Semver {
  const version = Semver.parse(text, normalize);
  if (version === undefined) throw new Error(`semver "${text}" parse error during conversion from string`);
  return version;
}

const TYPE = 'kubernetes.Semver';

export function registerSemver(env: Environment): void {
  env.registerType(TYPE, { ctor: Semver });
  env.registerOperator(`${TYPE} == ${TYPE}`, (a: Semver, b: Semver) => a.equals(b));
  env.registerFunction('isSemver(string): bool', (text: string) => Semver.parse(text) !== undefined);
  env.registerFunction(
    'isSemver(string, bool): bool',
    (text: string, normalize: boolean) => Semver.parse(text, normalize) !== undefined,
  );
  env.registerFunction(`semver(string): ${TYPE}`, (text: string) => semverOf(text));
  env.registerFunction(`semver(string, bool): ${TYPE}`, semverOf);
  for (const [index, name] of ['major', 'minor', 'patch'].entries()) {
    env.registerFunction(`${TYPE}.${name}(): int`, (version: Semver) => version.numbers[index]);
  }
  env.registerFunction(`${TYPE}.isLessThan(${TYPE}): bool`, (a: Semver, b: Semver) => a.compare(b) < 0);
  env.registerFunction(`${TYPE}.isGreaterThan(${TYPE}): bool`, (a: Semver, b: Semver) => a.compare(b) > 0);
  env.registerFunction(`${TYPE}.compareTo(${TYPE}): int`, (a: Semver, b: Semver) => BigInt(a.compare(b)));
}
