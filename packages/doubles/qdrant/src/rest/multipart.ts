/** The content of one field of a `multipart/form-data` body; undefined if there is no such field. */
export function fieldOf(body: Uint8Array, contentType: string, field: string): Uint8Array | undefined {
  const boundary = /boundary="?([^";]+)"?/.exec(contentType)?.[1];
  if (boundary === undefined) return undefined;
  const bytes = Buffer.from(body);
  const mark = `--${boundary}`;
  for (let at = bytes.indexOf(mark); at >= 0; ) {
    const next = bytes.indexOf(`\r\n${mark}`, at + mark.length);
    if (next < 0) return undefined;
    const head = bytes.indexOf('\r\n\r\n', at);
    const headers = bytes.subarray(at, head).toString('utf8');
    if (head >= 0 && head < next && headers.includes(`name="${field}"`)) return bytes.subarray(head + 4, next);
    at = next + 2;
  }
  return undefined;
}
