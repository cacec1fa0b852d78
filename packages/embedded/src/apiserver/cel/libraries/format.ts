import { type Environment, Optional } from '@marcbachmann/cel-js';
import { hasFormat } from '../../schema/formats.ts';
import {
  dns1035LabelErrors,
  dns1123LabelErrors,
  dns1123SubdomainErrors,
  labelValueErrors,
  qualifiedNameErrors,
} from '../../schema/names.ts';
import { registerNamespace } from './namespace.ts';

type Check = (text: string) => readonly string[];

class Format {
  readonly check: Check;

  constructor(check: Check) {
    this.check = check;
  }
}

/** Prefixes of generated names may end in a dash. */
const prefixOf =
  (check: Check): Check =>
  (text) =>
    check(text.endsWith('-') ? `${text.slice(0, -1)}a` : text);

const formatted =
  (format: string, says: string): Check =>
  (text) =>
    hasFormat(format, text) ? [] : [says];

const CHECKS: Readonly<Record<string, Check>> = {
  dns1123Label: dns1123LabelErrors,
  dns1123Subdomain: dns1123SubdomainErrors,
  dns1035Label: dns1035LabelErrors,
  dns1123LabelPrefix: prefixOf(dns1123LabelErrors),
  dns1123SubdomainPrefix: prefixOf(dns1123SubdomainErrors),
  dns1035LabelPrefix: prefixOf(dns1035LabelErrors),
  qualifiedName: qualifiedNameErrors,
  labelValue: labelValueErrors,
  uri: formatted('uri', 'invalid URI'),
  uuid: formatted('uuid', 'does not match the UUID format'),
  byte: formatted('byte', 'invalid base64'),
  date: formatted('date', 'invalid date'),
  datetime: formatted('datetime', 'invalid datetime'),
};

const TYPE = 'kubernetes.NamedFormat';

export function registerFormat(env: Environment): void {
  env.registerType(TYPE, { ctor: Format });
  const namespace = registerNamespace(env, 'format');
  const formats = new Map(Object.entries(CHECKS).map(([name, check]) => [name, new Format(check)]));
  for (const [name, format] of formats) env.registerFunction(`${namespace}.${name}(): ${TYPE}`, () => format);
  env.registerFunction(`${namespace}.named(string): optional<${TYPE}>`, (_: unknown, name: string) => {
    const format = formats.get(name);
    return format === undefined ? Optional.none() : Optional.of(format);
  });
  env.registerFunction(`${TYPE}.validate(string): optional<list<string>>`, (format: Format, text: string) => {
    const errors = format.check(text);
    return errors.length === 0 ? Optional.none() : Optional.of([...errors]);
  });
}
