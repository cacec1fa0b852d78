/** For tests: answers of kube-apiserver v1.36, recorded in `testdata/`, and ours written the same way. */
import { readFileSync } from 'node:fs';
import { type FieldError, invalid } from '../status.ts';

/** Go walks maps in random order, so answers are compared sorted. */
export function answerOf(errors: readonly FieldError[]): readonly string[] {
  const causes = invalid({ group: '', plural: '', kind: '' }, '', errors).details?.causes ?? [];
  return causes.map(({ reason, field, message }) => `${reason} ${field}: ${message}`).toSorted();
}

export interface Recorded {
  readonly name: string;
  readonly answer: readonly string[];
}

/** The text of a recording: `const cases: readonly Case[] = JSON.parse(recording('validate.json'))`. */
export const recording = (file: string): string => readFileSync(new URL(`testdata/${file}`, import.meta.url), 'utf8');
