/** What sources and transformations say about a message, as text: bytes are UTF-8, structures JSON, nothing is empty. */
export function metadataText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value === undefined || value === null) return '';
  if (Buffer.isBuffer(value)) return value.toString('utf8');
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint') return String(value);
  return JSON.stringify(value, (_, member: unknown) => (typeof member === 'bigint' ? String(member) : member)) ?? '';
}
