import type { FieldError } from './field-error.ts';

/** What a rule has to say of a field of its object, or with '' of the object; where that is, the rule need not know. */
export interface Finding {
  readonly says: FieldError['type'] | 'warning';
  readonly field: string;
  readonly detail: string;
}

const finding =
  (says: Finding['says']) =>
  (field: string, detail: string): Finding => ({ says, field, detail });

export const need = finding('Required value');
export const forbid = finding('Forbidden');
export const refuse = finding('Invalid value');
export const repeated = finding('Duplicate value');
export const warn = finding('warning');

/** For lists of findings: `[...when(isSo, need('topic', 'why'))]`. */
export const when = (isSo: boolean, ...findings: readonly Finding[]): readonly Finding[] => (isSo ? findings : []);
