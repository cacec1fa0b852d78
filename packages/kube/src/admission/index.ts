export { type AdmissionAppOptions, type AdmissionEvents, admissionApp } from './app.ts';
export { differences } from './json-patch.ts';
export type { Admission, AdmissionRequest, Denial, Mutation, Verdict } from './review.ts';
export { type SpecJudgement, validatingSpecs } from './specs.ts';
export { conversion, mutating, validating, type Webhook } from './webhook.ts';
