/**
 * What transformations do, once more and without any code of theirs: small enough to be read through and believed. `documents.ts`
 * makes messages, `steps.ts` transformations with what each should do, on the plain documents of `tree.ts`.
 */
export { message, SCALARS, tree } from './documents.ts';
export { castTo, type ModelMessage, type ModelStep, STEPS, TYPES } from './steps.ts';
export { distinct, ModelFailure, print, type Tree } from './tree.ts';
