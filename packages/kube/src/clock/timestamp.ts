/** `2026-01-01T00:00:00Z`, as the API writes a time: whole seconds. Takes milliseconds or a date. */
export const timestamp = (time: number | Date): string => `${new Date(time).toISOString().slice(0, 19)}Z`;
