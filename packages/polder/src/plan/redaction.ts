export const REDACTED = '<redacted>';

/** By what secrets are called, wherever they stand. References to Secrets (`…SecretRef`, `secretName`) are none. */
const SECRET_NAME =
  /(?:password|passwd|passphrase|secret|token|credentials?|(?:api|access|private)[-_.]?key|connectionstring)$/i;
/** `scheme://user:password@` */
const USER = /(?<=\b[a-z][a-z0-9+.-]*:\/\/)[^\s/@]+@/gi;

/** Whether a field holds a secret, by its name. */
export const isHiddenField = (name: string): boolean => SECRET_NAME.test(name);

/** A value without its secrets, for people to read. */
export function redacted(value: unknown): unknown {
  if (typeof value === 'string') return withoutSecrets(value);
  if (Array.isArray(value)) return value.map(redacted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]: [string, unknown]) => {
      const isText = typeof inner === 'string' || typeof inner === 'number';
      return [name, isText && isHiddenField(name) ? REDACTED : redacted(inner)];
    }),
  );
}

/** A text may be a document with secrets in it, a URL with a password, or a key. */
function withoutSecrets(text: string): string {
  if (text.includes('PRIVATE KEY-----')) return REDACTED;
  if (/^\s*[{[]/.test(text)) {
    try {
      return JSON.stringify(redacted(JSON.parse(text)));
    } catch {
      // No document after all.
    }
  }
  return text.replaceAll(USER, `${REDACTED}@`);
}
