/**
 * The string formats a CRD may ask for. The list is the real server's (`apiextensions-apiserver/pkg/apiserver/validation/
 * formats.go`); a format that is not on it is documentation and checks nothing.
 */
import { isIP } from 'node:net';

const matching = (pattern: RegExp) => (text: string) => pattern.test(text);

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/;
const UUID = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;
const UUID3 = /^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;
const UUID4 = /^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i;
const UUID5 = /^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i;
const BYTE_OF_COLOR = String.raw`\s*(?:0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*`;
const RGB = new RegExp(`^rgb\\(${BYTE_OF_COLOR},${BYTE_OF_COLOR},${BYTE_OF_COLOR}\\)$`);
const LETTER = String.raw`[a-zA-Z0-9\p{S}\p{L}]`;
const HOSTNAME = new RegExp(
  String.raw`^(?:${LETTER}(?:-?${LETTER}{0,62})?|(?:${LETTER}(?:[a-zA-Z0-9\-\p{S}\p{L}]{0,61}${LETTER})?\.)+[a-zA-Z\p{L}]{2,63})$`,
  'u',
);
const CREDIT_CARD =
  /^(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}|3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35\d{3})\d{11})$/;
const MAC =
  /^(?:[0-9a-f]{2}(?:([:-])[0-9a-f]{2}(?:\1[0-9a-f]{2}){4}(?:(?:\1[0-9a-f]{2}){2}|(?:\1[0-9a-f]{2}){14})?)|[0-9a-f]{4}(?:\.[0-9a-f]{4}){2}(?:\.[0-9a-f]{4}|(?:\.[0-9a-f]{4}){7})?)$/i;
const TIME = /^(\d{2}):(\d{2}):(\d{2})(?:.\d+)?(?:z|[+-]\d{2}:\d{2})$/;
const GO_DURATION = /^[+-]?(?:0|(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/;
/** The second form durations may have: a number and a word, `5 days`. */
const SPELLED_DURATION =
  /\d+\s*(?:ns|nano|us|µs|micro|ms|milli|s|sec|m|min|h|hr|hour|d|day|w|wk|week)(?![a-z])|\d+\s*(?:nano|micro|milli|sec|min|hour|day|week)[a-z]*/i;

const CHECKS: Readonly<Record<string, (text: string) => boolean>> = {
  bsonobjectid: matching(/^[0-9a-f]{24}$/i),
  uri: isRequestUri,
  email: isEmail,
  hostname: (text) => HOSTNAME.test(text) && text.length <= 255 && text.split('.').every((part) => part.length <= 63),
  ipv4: (text) => isIP(text) !== 0 && text.includes('.'),
  ipv6: (text) => isIP(text) === 6,
  cidr: isCidr,
  mac: matching(MAC),
  uuid: matching(UUID),
  uuid3: matching(UUID3),
  uuid4: matching(UUID4),
  uuid5: matching(UUID5),
  isbn: (text) => isIsbn10(text) || isIsbn13(text),
  isbn10: isIsbn10,
  isbn13: isIsbn13,
  creditcard: isCreditCard,
  ssn: (text) => text.length === 11 && /^\d{3}[- ]?\d{2}[- ]?\d{4}$/.test(text),
  hexcolor: matching(/^#?(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/),
  rgbcolor: matching(RGB),
  byte: matching(BASE64),
  password: () => true,
  date: isDate,
  duration: (text) => GO_DURATION.test(text) || SPELLED_DURATION.test(text),
  datetime: isDateTime,
  k8sshortname: (text) => text.length <= 63 && /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/.test(text),
  k8slongname: (text) =>
    text.length <= 253 && /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/.test(text),
};

/** `date-time` and `datetime` are one format. */
const normalized = (format: string) => format.replaceAll('-', '');

export const isStringFormat = (format: string): boolean => Object.hasOwn(CHECKS, normalized(format));

/** Whether a text has a format; every text has one that the server does not know. */
export const hasFormat = (format: string, text: string): boolean => CHECKS[normalized(format)]?.(text) ?? true;

function isDate(text: string): boolean {
  const [, year = '', month = '', day = ''] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text) ?? [];
  if (year === '') return false;
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.getUTCMonth() + 1 === Number(month) && date.getUTCDate() === Number(day);
}

function isDateTime(text: string): boolean {
  const [date = '', time = ''] = text.toLowerCase().split('t');
  const [, hours, minutes, seconds] = TIME.exec(time) ?? [];
  return isDate(date) && Number(hours) <= 23 && Number(minutes) <= 59 && Number(seconds) <= 59;
}

/** An absolute URI or an absolute path, as an HTTP request line would carry it. */
function isRequestUri(text: string): boolean {
  if (text === '' || /[\p{Cc} ]/u.test(text) || /%(?![0-9a-f]{2})/i.test(text)) return false;
  if (text === '*' || text.startsWith('/')) return true;
  return /^[a-z][a-z0-9+.-]*:/i.test(text) && (!text.includes('://') || URL.canParse(text));
}

/** `name@host`, or `Some Name <name@host>`: what Go's mail parser takes, without its comments and quoted parts. */
function isEmail(text: string): boolean {
  const [, bracketed] = /^[^<>@]*<([^<>]+)>$/.exec(text.trim()) ?? [];
  return /^[^\s@<>(),;:\\"[\]]+@[^\s@<>(),;:\\"]+$/.test(bracketed ?? text.trim());
}

function isCidr(text: string): boolean {
  const [, address = '', bits = ''] = /^([^/]+)\/(\d{1,3})$/.exec(text) ?? [];
  const family = isIP(address);
  return family !== 0 && Number(bits) <= (family === 4 ? 32 : 128);
}

function isCreditCard(text: string): boolean {
  const digits = text.replaceAll(/\D/g, '');
  if (!CREDIT_CARD.test(digits)) return false;
  let sum = 0;
  for (const [index, digit] of Array.from(digits).toReversed().entries()) {
    const doubled = Number(digit) * (index % 2 === 0 ? 1 : 2);
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}

function isIsbn10(text: string): boolean {
  const digits = text.replaceAll(/[\s-]/g, '');
  if (!/^\d{9}[\dX]$/.test(digits)) return false;
  const sum = Array.from(digits).reduce(
    (total, digit, index) => total + (index + 1) * (digit === 'X' ? 10 : Number(digit)),
    0,
  );
  return sum % 11 === 0;
}

function isIsbn13(text: string): boolean {
  const digits = text.replaceAll(/[\s-]/g, '');
  if (!/^\d{13}$/.test(digits)) return false;
  return (
    Array.from(digits).reduce((total, digit, index) => total + Number(digit) * (index % 2 === 0 ? 1 : 3), 0) % 10 === 0
  );
}
