import { type Logger, pino } from 'pino';

const LEVELS = ['debug', 'info', 'warn', 'error'];

/** JSON lines on standard output, down to `LOG_LEVEL`; `base` stands in each. */
export function logOf({ LOG_LEVEL: given = '' }: NodeJS.ProcessEnv, base: object): Logger {
  const level = given.trim().toLowerCase() || 'info';
  const isKnown = LEVELS.includes(level);
  const log = pino({ base, level: isKnown ? level : 'info' });
  if (!isKnown) log.warn({}, `LOG_LEVEL is ${given}; it may be ${LEVELS.join(', ')}; taking info`);
  return log;
}
