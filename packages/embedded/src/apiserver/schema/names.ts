/** The rules for names (`k8s.io/apimachinery/pkg/util/validation`), each a list of complaints in the real server's words. */

const rule = (pattern: string) => new RegExp(`^(?:${pattern})$`);

const DNS1035_LABEL = '[a-z]([-a-z0-9]*[a-z0-9])?';
const DNS1123_LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const DNS1123_SUBDOMAIN = `${DNS1123_LABEL}(\\.${DNS1123_LABEL})*`;
const QUALIFIED_NAME = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
const LABEL_VALUE = `(${QUALIFIED_NAME})?`;

const tooLong = (most: number, unit: 'bytes' | 'characters') => `must be no more than ${most} ${unit}`;

function regexError(says: string, pattern: string, ...examples: readonly string[]): string {
  const samples = examples.map((example) => `'${example}', `).join(' or ');
  return `${says} (e.g. ${samples}regex used for validation is '${pattern}')`;
}

export function dns1035LabelErrors(name: string): readonly string[] {
  return complaints(name, 63, DNS1035_LABEL, () =>
    regexError(
      "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
      DNS1035_LABEL,
      'my-name',
      'abc-123',
    ),
  );
}

export function dns1123LabelErrors(name: string): readonly string[] {
  return complaints(name, 63, DNS1123_LABEL, () =>
    regexError(
      "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
      DNS1123_LABEL,
      'my-name',
      '123-abc',
    ),
  );
}

export function dns1123SubdomainErrors(name: string): readonly string[] {
  return complaints(name, 253, DNS1123_SUBDOMAIN, () =>
    regexError(
      "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
      DNS1123_SUBDOMAIN,
      'example.com',
    ),
  );
}

export function labelValueErrors(value: string): readonly string[] {
  const errors = Buffer.byteLength(value) > 63 ? [tooLong(63, 'bytes')] : [];
  if (rule(LABEL_VALUE).test(value)) return errors;
  return [
    ...errors,
    regexError(
      "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
      LABEL_VALUE,
      'MyValue',
      'my_value',
      '12345',
    ),
  ];
}

/** Names of labels and annotations: `name` or `domain/name`. */
export function qualifiedNameErrors(key: string): readonly string[] {
  const parts = key.split('/');
  const [prefix = '', name = ''] = parts.length === 1 ? ['', parts[0]] : parts;
  if (parts.length > 2) {
    const says = regexError(
      "a qualified name must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
      QUALIFIED_NAME,
      'MyName',
      'my.name',
      '123-abc',
    );
    return [`${says} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`];
  }
  const errors: string[] = [];
  if (parts.length === 2) {
    if (prefix === '') errors.push('prefix part must be non-empty');
    else errors.push(...dns1123SubdomainErrors(prefix).map((says) => `prefix part ${says}`));
  }
  if (name === '') errors.push('name part must be non-empty');
  else if (name.length > 63) errors.push(`name part ${tooLong(63, 'bytes')}`);
  if (!rule(QUALIFIED_NAME).test(name)) {
    const says =
      "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
    errors.push(regexError(says, QUALIFIED_NAME, 'MyName', 'my.name', '123-abc'));
  }
  return errors;
}

/** A name that may stand as one segment of a URL's path. */
export function pathSegmentErrors(name: string): readonly string[] {
  if (name === '.' || name === '..') return [`may not be '${name}'`];
  return ['/', '%']
    .filter((character) => name.includes(character))
    .map((character) => `may not contain '${character}'`);
}

function complaints(name: string, most: number, pattern: string, says: () => string): readonly string[] {
  const errors: string[] = [];
  if (Buffer.byteLength(name) > most) errors.push(tooLong(most, 'characters'));
  if (!rule(pattern).test(name)) errors.push(says());
  return errors;
}
