import { topic } from './suite.ts';
export const cronJobs = topic('cron jobs', () => {});
