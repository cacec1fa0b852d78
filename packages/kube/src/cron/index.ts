/** When what recurs is due: lines of cron as Kubernetes reads them. */
export { nextTime } from './next-time.ts';
export { BadSchedule, isTimeZone, parseSchedule, problemWithSchedule, type Schedule } from './schedule.ts';
export { formatInZone } from './time-zone.ts';
