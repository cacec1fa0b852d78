export { addFinalizer, type FinalizerOutcome, hasFinalizer, removeFinalizer } from './finalizer.ts';
