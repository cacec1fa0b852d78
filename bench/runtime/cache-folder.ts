import { homedir } from 'node:os';
import { join } from 'node:path';

/** Where what is built once stays from run to run. */
export function cacheFolder(): string {
  return join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'polder', 'bench');
}
