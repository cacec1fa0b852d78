import type { Environment } from '@marcbachmann/cel-js';
import { Duration } from '@marcbachmann/cel-js/evaluator';
import { registerNamespace } from './namespace.ts';

/** What cel-go's `strings` extension (version 2) has beyond the library's own. */
export function registerStrings(env: Environment): void {
  env.registerFunction('string.charAt(int): string', (text: string, at: bigint) => {
    const characters = Array.from(text);
    if (at < 0n || at > BigInt(characters.length)) throw new Error(`index out of range: ${at}`);
    return characters[Number(at)] ?? '';
  });
  env.registerFunction('string.replace(string, string): string', (text: string, from: string, to: string) =>
    text.split(from).join(to),
  );
  env.registerFunction(
    'string.replace(string, string, int): string',
    (text: string, from: string, to: string, most: bigint) => {
      const parts = text.split(from);
      const count = most < 0n ? parts.length : Number(most);
      return parts.reduce((result, part, index) => result + (index <= count ? to : from) + part);
    },
  );
  env.registerFunction('string.format(list): string', (text: string, values: readonly unknown[]) =>
    format(text, values),
  );
  const strings = registerNamespace(env, 'strings');
  env.registerFunction(`${strings}.quote(string): string`, (_: unknown, text: string) => JSON.stringify(text));
}

function format(text: string, values: readonly unknown[]): string {
  const rest = [...values];
  return text.replaceAll(/%(?:%|(?:\.(\d+))?([a-zA-Z]))/g, (clause: string, digits?: string, verb?: string) => {
    if (clause === '%%') return '%';
    if (rest.length === 0) throw new Error(`index ${values.length} out of range`);
    return formatted(verb ?? '', rest.shift(), digits === undefined ? 6 : Number(digits));
  });
}

function formatted(verb: string, value: unknown, digits: number): string {
  if (verb === 's') return textOf(value);
  if (verb === 'd' && (typeof value === 'bigint' || typeof value === 'number')) return String(value);
  if (verb === 'f' && typeof value === 'number') return value.toFixed(digits);
  if (verb === 'e' && typeof value === 'number') {
    const [mantissa, exponent = '0'] = value.toExponential(digits).split('e');
    const power = String(Math.abs(Number(exponent))).padStart(2, '0');
    const raised = Array.from(power)
      .map((digit) => '⁰¹²³⁴⁵⁶⁷⁸⁹'[Number(digit)])
      .join('');
    return `${mantissa}×10${Number(exponent) < 0 ? '⁻' : ''}${raised}`;
  }
  if (verb === 'b' && typeof value === 'boolean') return value ? '1' : '0';
  const base = { b: 2, o: 8, x: 16, X: 16 }[verb];
  if (base !== undefined && typeof value === 'bigint') {
    return verb === 'X' ? value.toString(base).toUpperCase() : value.toString(base);
  }
  if (verb.toLowerCase() === 'x' && (typeof value === 'string' || value instanceof Uint8Array)) {
    const hex = Buffer.from(value).toString('hex');
    return verb === 'X' ? hex.toUpperCase() : hex;
  }
  throw new Error(`could not parse formatting clause: unrecognized formatting clause "${verb}"`);
}

function textOf(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(textOf).join(', ')}]`;
  if (value instanceof Map) {
    const members = [...value].map(([key, member]) => `${textOf(key)}: ${textOf(member)}`);
    return `{${members.toSorted().join(', ')}}`;
  }
  if (value instanceof Date) return value.toISOString().replace(/\.000Z$/, 'Z');
  if (value instanceof Uint8Array) return Buffer.from(value).toString();
  if (value instanceof Duration) return value.toString();
  return String(value);
}
