import { type FieldError, required } from './field-error.ts';
import { fill } from './fill.ts';
import { type FlowSpec, flow } from './flow.ts';
import { isEmpty } from './given.ts';
import { schemaOf } from './schema.ts';
import { secretRefsOf } from './secrets.ts';
import { validate } from './validate.ts';

export type Normalised =
  | { readonly isValid: true; readonly spec: FlowSpec; readonly warnings: readonly string[] }
  | { readonly isValid: false; readonly errors: readonly FieldError[]; readonly warnings: readonly string[] };

/**
 * The spec for the processor, or everything that is wrong with it. Secrets have been joined before: a reference without a
 * value beside it is an error here.
 */
export function normalise(spec: unknown): Normalised {
  const { errors, warnings } = validate(spec);
  const unresolved = secretRefsOf(spec).filter(({ literal }) => isEmpty(literal));
  const all = [
    ...errors,
    ...unresolved.map(({ field, name, key }) =>
      required(field, `has no value: key ${key} of secret ${name} was not read, or is empty`),
    ),
  ];
  const filled = fill(schemaOf(flow), spec);
  return isFlow(filled, all) ? { isValid: true, spec: filled, warnings } : { isValid: false, errors: all, warnings };
}

/** What has no errors and was filled by the declarations has the type that they declare. */
function isFlow(filled: unknown, errors: readonly FieldError[]): filled is FlowSpec {
  return filled !== undefined && errors.length === 0;
}
