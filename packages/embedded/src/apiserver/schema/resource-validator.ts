import { RuleValidator } from '../cel/index.ts';
import type { FieldError } from '../status.ts';
import { Correlation } from './correlation.ts';
import { validateEmbeddedResources } from './embedded-resources.ts';
import { invalidValue } from './field-errors.ts';
import { validateListTypes } from './list-types.ts';
import type { JsonObject, Schema } from './schema.ts';
import { validate } from './validate.ts';

export interface ResourceVerdict {
  readonly errors: readonly FieldError[];
  /** Rules that an untouched part of the object breaks: told, not enforced. */
  readonly warnings: readonly FieldError[];
}

/** After these the types of the object cannot be relied on, so rules are not run. */
const BLOCKING: readonly FieldError['type'][] = ['NotSupported', 'Required', 'TooLong', 'TooMany', 'TypeInvalid'];

const NOT_CHECKED =
  'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation';

/** Everything a schema says of an object: types and bounds, lists, embedded resources, and rules when these hold. */
export class ResourceValidator {
  readonly #schema: Schema;
  readonly #rules: RuleValidator | undefined;

  constructor(schema: Schema) {
    this.#schema = schema;
    this.#rules = RuleValidator.of(schema, true);
  }

  /** `old` is there on update: what it has and the update leaves alone is not held against the new object. */
  validate(object: unknown, old?: unknown): ResourceVerdict {
    const correlation = old === undefined ? undefined : new Correlation(object, old, this.#schema);
    const errors = [
      ...validate(this.#schema, object, { correlation }),
      ...validateEmbeddedResources(this.#schema, object),
    ];
    return this.#listsAndRules(errors, object, old, correlation);
  }

  /** A write to `/status`: the status alone is held to its schema, the rules are those of the whole object. */
  validateStatus(object: JsonObject, old: JsonObject): ResourceVerdict {
    const correlation = new Correlation(object, old, this.#schema);
    const status = this.#schema.property('status');
    const options = { under: 'status', correlation: correlation.property('status') };
    const errors = status !== undefined && 'status' in object ? validate(status, object.status, options) : [];
    return this.#listsAndRules(errors, object, old, correlation);
  }

  /** Duplicates in lists, unless they were there before; then rules, unless the types are wrong. */
  #listsAndRules(
    found: readonly FieldError[],
    object: unknown,
    old: unknown,
    correlation?: Correlation,
  ): ResourceVerdict {
    const hadDuplicates = old !== undefined && validateListTypes(this.#schema, old).length > 0;
    const errors = hadDuplicates ? found : [...found, ...validateListTypes(this.#schema, object)];
    if (this.#rules === undefined) return { errors, warnings: [] };
    if (errors.some(({ type }) => BLOCKING.includes(type))) {
      return { errors: [...errors, invalidValue('', null, NOT_CHECKED)], warnings: [] };
    }
    const ruled = this.#rules.validate(object, { old, correlation });
    return { errors: [...errors, ...ruled.errors], warnings: ruled.warnings };
  }
}
