import type { Logger } from '../../src/log.ts';

export interface Line {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly fields: object;
  readonly message: string;
}

/** A logger that remembers. */
export function memoryLog(): { readonly log: Logger; readonly lines: Line[] } {
  const lines: Line[] = [];
  const at = (level: Line['level']) => (fields: object, message: string) => void lines.push({ level, fields, message });
  return { log: { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }, lines };
}
