/** The spelling rules of names and keys: each says what is wrong, in the real server's words; nothing when all is well. */
import { isIP } from 'node:net';

export type Rule = (value: string) => readonly string[];

const bytes = (value: string) => Buffer.byteLength(value);

const spelled = (
  pattern: string,
  message: string,
  max: number,
  tooLong = `must be no more than ${max} bytes`,
): Rule => {
  const regexp = new RegExp(`^(?:${pattern})$`);
  return (value) => [
    ...(bytes(value) > max ? [tooLong] : []),
    ...(regexp.test(value) ? [] : [message.replace('%', () => pattern)]),
  ];
};

const LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const SUBDOMAIN = `${LABEL}(\\.${LABEL})*`;
const QUALIFIED = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';

export const subdomain: Rule = spelled(
  SUBDOMAIN,
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '%')",
  253,
);

const dnsLabel: Rule = spelled(
  LABEL,
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '%')",
  63,
);

export const label: Rule = dnsLabel;

/** A label as the name of an object: dots are so common a mistake that they have their own sentence. */
export const labelName: Rule = (value) => (value.includes('.') ? ['must not contain dots'] : dnsLabel(value));

const qualifiedPart: Rule = spelled(
  QUALIFIED,
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '%')",
  63,
  'name part must be no more than 63 bytes',
);

/** `name` or `domain/name`: keys of labels and annotations, finalizers, extended resources. */
export const qualifiedName: Rule = (value) => {
  const parts = value.split('/');
  if (parts.length > 2) {
    return [
      `a qualified name must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '${QUALIFIED}') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  }
  const [prefix, name] = parts.length === 2 ? [parts[0] ?? '', parts[1] ?? ''] : [undefined, value];
  return [
    ...(prefix === '' ? ['prefix part must be non-empty'] : []),
    ...(prefix ? subdomain(prefix).map((message) => `prefix part ${message}`) : []),
    ...(name === '' ? ['name part must be non-empty'] : []),
    ...qualifiedPart(name),
  ];
};

export const labelValue: Rule = spelled(
  `(${QUALIFIED})?`,
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '%')",
  63,
);

/** Keys of ConfigMaps and Secrets become file names. */
export const configKey: Rule = (value) => [
  ...configKeySpelling(value),
  ...(value === '.' ? ["must not be '.'"] : []),
  ...(value === '..' ? ["must not be '..'"] : value.startsWith('..') ? ["must not start with '..'"] : []),
];

const configKeySpelling: Rule = spelled(
  '[-._a-zA-Z0-9]+',
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '%')",
  253,
);

export const environmentName: Rule = (value) =>
  /^[ -<>-~]+$/.test(value)
    ? []
    : ["a valid environment variable name must consist only of printable ASCII characters other than '='"];

/** The name of a port: IANA's rules for service names. */
export const portName: Rule = (value) => [
  ...(value.length > 15 ? ['must be no more than 15 characters long'] : []),
  ...(/^[-a-z0-9]+$/.test(value) ? [] : ['must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)']),
  ...(/[a-z]/.test(value) ? [] : ['must contain at least one letter (a-z)']),
  ...(value.includes('--') ? ['must not contain consecutive hyphens'] : []),
  ...(value.startsWith('-') || value.endsWith('-') ? ['must not begin or end with a hyphen'] : []),
];

export const ipAddress: Rule = (value) =>
  isIP(value) > 0 ? [] : ['must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'];

export const percentage: Rule = (value) =>
  /^[0-9]+%$/.test(value)
    ? []
    : [
        "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')",
      ];
