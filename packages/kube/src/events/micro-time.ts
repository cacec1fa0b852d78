/**
 * The `MicroTime` of the API: always six digits. A Lease or an Event with the three of `toISOString()` is refused as a
 * whole (400), because the API server parses the field by a fixed layout.
 */
export function microTime(ms: number): string {
  return new Date(ms).toISOString().replace('Z', '000Z');
}
