export type { Admission, Review } from './admission.ts';
export { webhookAdmission } from './webhook-admission.ts';
