/** `polder plan`: what would be done, without doing it. */
export { type PlanFlags, plan } from './plan.ts';
