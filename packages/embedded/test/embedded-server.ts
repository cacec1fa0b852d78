import { systemClock } from '@polder/kube';
import { type ApiServer, createApiServer } from '../src/index.ts';

/** The embedded server as a program would start it: in memory, on the clock of the machine. */
export function embeddedServer(): ApiServer {
  return createApiServer({ clock: systemClock, random: Math.random });
}
