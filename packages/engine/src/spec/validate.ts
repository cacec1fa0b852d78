import { type FieldError, forbidden, invalid, required, unsupported } from './field-error.ts';
import { fill } from './fill.ts';
import type { Finding } from './finding.ts';
import { flow } from './flow.ts';
import { checkFormat } from './formats.ts';
import {
  type Choice,
  choiceOf,
  extrasOf,
  type Fields,
  has,
  isEmpty,
  isFields,
  isGiven,
  valueOf,
  wordOf,
} from './given.ts';
import { nearest } from './nearest.ts';
import { childOf, entryOf, type Place, ROOT } from './place.ts';
import { type Block, type Format, type Schema, schemaOf, secretRefOf } from './schema.ts';

export interface Verdict {
  /** Everything that is wrong, in the order of the declarations. */
  readonly errors: readonly FieldError[];
  /** What is allowed and may be regretted, a line each. */
  readonly warnings: readonly string[];
}

/** Judges a spec, which may be any JSON, in either shape, with or without its secrets. */
export function validate(spec: unknown): Verdict {
  if (!isGiven(spec)) return { errors: [required(ROOT.field, 'spec is required')], warnings: [] };
  const validation = new Validation();
  validation.value(schemaOf(flow), spec, ROOT, false);
  const { errors, warnings } = validation;
  return { errors, warnings };
}

class Validation {
  readonly errors: FieldError[] = [];
  readonly warnings: string[] = [];

  /** `isHidden`: the value is never quoted. */
  value(schema: Schema, value: unknown, place: Place, isHidden: boolean): void {
    const { 'x-polder-block': block } = schema;
    const refuse = (detail: string) => this.#refuse(place, value, detail, isHidden);
    if (block) this.#block(block, value, place);
    else if (schema.enum) this.#word(schema, schema.enum, value, place);
    else if (schema['x-kubernetes-int-or-string']) {
      if (typeof value !== 'string' && !Number.isInteger(value)) refuse('must be an integer or a string');
      else this.#format(schema.format, String(value), place, isHidden);
    } else if (schema.type === 'object') {
      if (!isFields(value)) refuse('must be an object');
      else if (schema.properties) this.#object(schema, value, place);
      else if (schema.additionalProperties) this.#map(schema, schema.additionalProperties, value, place);
    } else if (schema.type === 'array') {
      if (!Array.isArray(value)) refuse('must be a list');
      else this.#list(schema, value, place, isHidden);
    } else if (schema.type === 'string') {
      if (typeof value !== 'string') refuse('must be a string');
      else if (value.length < (schema.minLength ?? 0)) refuse('must not be empty');
      else this.#format(schema.format, value, place, isHidden);
    } else if (schema.type === 'integer') {
      if (typeof value !== 'number' || !Number.isInteger(value)) refuse('must be an integer');
      else if (value < (schema.minimum ?? value)) refuse(`must be at least ${schema.minimum}`);
      else if (value > (schema.maximum ?? value)) refuse(`must be at most ${schema.maximum}`);
    } else if (schema.type === 'boolean' && typeof value !== 'boolean') refuse('must be true or false');
  }

  #refuse({ field }: Place, value: unknown, detail: string, isHidden: boolean): void {
    this.errors.push(isHidden ? { type: 'Invalid value', field, detail } : invalid(field, value, detail));
  }

  #word(schema: Schema, words: readonly string[], value: unknown, { field }: Place): void {
    if (wordOf(schema, value) !== undefined) return;
    this.errors.push(
      typeof value === 'string' ? unsupported(field, value, words) : invalid(field, value, 'must be a string'),
    );
  }

  #format(format: Format | undefined, text: string, place: Place, isHidden: boolean): void {
    const problem = format && checkFormat(format, text);
    if (problem !== undefined) this.#refuse(place, text, problem, isHidden);
  }

  #list(schema: Schema, list: readonly unknown[], place: Place, isHidden: boolean): void {
    const { items = {}, maxItems } = schema;
    if (list.length > (maxItems ?? list.length)) {
      this.errors.push(forbidden(place.field, `has ${list.length} items, and may have ${maxItems}`));
    }
    for (const [index, item] of list.entries()) this.value(items, item, entryOf(place, index), isHidden);
  }

  #map(schema: Schema, values: Schema, map: Fields, place: Place): void {
    const { propertyNames } = schema;
    for (const [key, entry] of Object.entries(map)) {
      const at = entryOf(place, key);
      const problem = propertyNames && checkFormat(propertyNames.format, key);
      if (problem !== undefined) this.errors.push(invalid(at.field, key, problem));
      this.value(values, entry, at, false);
    }
  }

  /** What is missing, then the references, then the values, then what does not belong here, then what holds between them. */
  #object(schema: Schema, value: Fields, place: Place): void {
    const fields = fieldsOf(schema, value, place);
    for (const field of fields) if (field.isMissing && !field.ref?.isGiven) this.#missing(field);
    for (const { ref } of fields) if (ref?.isGiven) this.#secretRef(ref.value, ref.place);
    for (const field of fields) if (!field.isMissing) this.#field(field);
    const known = fields.flatMap(({ name, ref }) => (ref ? [name, ref.name] : [name]));
    this.#unknown(value, known, place);
    this.#rule(schema, value, fields, place);
  }

  #missing({ name, schema, value, place, ref }: Field): void {
    const message = schema['x-polder-missing'] ?? `${ref ? `${name} or ${ref.name}` : name} is required`;
    // A list that may come from a Secret is invalid where all else is required: the words that users and their tools know.
    const isBrokers = schema.type === 'array' && ref;
    this.errors.push(isBrokers ? invalid(place.field, value, message) : required(place.field, message));
  }

  #field({ schema, value, place, ref, isNeeded, isHidden }: Field): void {
    // The empty text stands for none, unless the declaration says that it is one too short.
    const isTooShort = value === '' && schema.minLength !== undefined;
    if (isGiven(value) || isNeeded || isTooShort) this.value(schema, value, place, isHidden);
    if (schema['x-polder-secret'] && isGiven(value) && ref?.isGiven === false) {
      this.#warn(place, `is a secret in clear text; use ${ref.name}`);
    }
  }

  #secretRef(ref: unknown, place: Place): void {
    if (!isFields(ref)) {
      this.errors.push({ type: 'Invalid value', field: place.field, detail: 'must be an object with name and key' });
      return;
    }
    for (const name of ['name', 'key', 'namespace']) {
      const value = valueOf(ref, name);
      const { field } = childOf(place, name);
      if (!isGiven(value)) {
        if (name !== 'namespace') this.errors.push(required(field, `secret ${name} is required`));
      } else if (typeof value !== 'string') this.errors.push(invalid(field, value, 'must be a string'));
    }
    this.#unknown(ref, ['name', 'key', 'namespace'], place);
  }

  #block(block: Block, value: unknown, place: Place): void {
    const { noun, variants } = block;
    const { field } = childOf(place, 'type');
    const type = isFields(value) ? valueOf(value, 'type') : undefined;
    const choice = isFields(value) ? choiceOf(block, value) : undefined;
    if (isGiven(value) && !isFields(value)) this.errors.push(invalid(place.field, value, 'must be an object'));
    else if (!isGiven(type)) this.errors.push(required(field, `${noun} type is required`));
    else if (typeof type !== 'string') this.errors.push(invalid(field, type, 'must be a string'));
    else if (choice === undefined) this.errors.push(unsupported(field, type, Object.keys(variants)));
    else if (isFields(value)) this.#chosen(block, choice, value, place);
  }

  #chosen(block: Block, { type, schema, name, config }: Choice, value: Fields, place: Place): void {
    const field = (part: string) => childOf(place, part).field;
    if (isGiven(config)) this.value(schema, config, childOf(place, name), false);
    else if (!schema['x-polder-bare']) {
      this.errors.push(required(field(type), `${type} ${block.noun} configuration is required`));
    }
    if (name !== 'config' && isGiven(valueOf(value, 'config'))) {
      this.errors.push(forbidden(field('config'), `may not be given beside ${type}; keep one of the two`));
    }
    const extras = extrasOf(block);
    for (const [extra, property] of Object.entries(extras)) {
      if (isGiven(valueOf(value, extra))) this.value(property, valueOf(value, extra), childOf(place, extra), false);
    }
    const others = Object.keys(block.variants).filter((other) => other !== type);
    for (const other of others.filter((other) => isGiven(valueOf(value, other)))) {
      this.errors.push(forbidden(field(other), `is for type ${other}, but type is ${type}`));
    }
    const known = ['type', 'config', type, ...Object.keys(extras)];
    this.#unknown(without(value, others), known, place);
  }

  #unknown(fields: Fields, known: readonly string[], place: Place): void {
    for (const name of Object.keys(fields).filter((name) => !known.includes(name))) {
      const meant = nearest(name, known);
      const detail = meant === undefined ? 'unknown field' : `unknown field; did you mean ${meant}?`;
      this.errors.push(forbidden(childOf(place, name).field, detail));
    }
  }

  #rule(schema: Schema, value: Fields, fields: readonly Field[], place: Place): void {
    const given = fill(schema, value);
    if (!schema['x-polder-rule'] || !isFields(given)) return;
    for (const finding of schema['x-polder-rule'](given, (name) => has(schema, value, name))) {
      const about = fields.find(({ name }) => name === finding.field);
      this.#finding(finding, about, finding.field === '' ? place.field : `${place.field}.${finding.field}`);
    }
  }

  #finding({ says, detail }: Finding, about: Field | undefined, field: string): void {
    if (says === 'warning') this.warnings.push(`${field}: ${detail}`);
    else if (says === 'Invalid value' && about?.isHidden === false) {
      this.errors.push(invalid(field, about.value, detail));
    } else this.errors.push({ type: says, field, detail });
  }

  #warn({ field }: Place, detail: string): void {
    this.warnings.push(`${field}: ${detail}`);
  }
}

/** A declared field of an object, and what was given of it. */
interface Field {
  readonly name: string;
  readonly schema: Schema;
  readonly value: unknown;
  readonly place: Place;
  readonly isNeeded: boolean;
  /** It is a secret, or comes from one. */
  readonly isHidden: boolean;
  /** Needed, and there is none. Not said of blocks, which say themselves what they lack. */
  readonly isMissing: boolean;
  readonly ref?: { readonly name: string; readonly value: unknown; readonly place: Place; readonly isGiven: boolean };
}

function fieldsOf(schema: Schema, object: Fields, place: Place): readonly Field[] {
  return Object.entries(schema.properties ?? {}).map(([name, property]) => {
    const value = valueOf(object, name);
    const ref = secretRefOf(name, property);
    const refValue = ref === undefined ? undefined : valueOf(object, ref);
    const other = property['x-polder-unless'];
    const isRequired = schema.required?.includes(name) === true && property.default === undefined;
    const isNeeded = other === undefined ? isRequired : !has(schema, object, other);
    return {
      name,
      schema: property,
      value,
      place: childOf(place, name),
      isNeeded,
      isHidden: property['x-polder-secret'] === true || isGiven(refValue),
      isMissing: isNeeded && isEmpty(value) && !property['x-polder-block'],
      ...(ref !== undefined && {
        ref: { name: ref, value: refValue, place: childOf(place, ref), isGiven: isGiven(refValue) },
      }),
    };
  });
}

const without = (fields: Fields, names: readonly string[]): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)));
