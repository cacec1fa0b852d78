import type { WireMeta } from '../served-kind.ts';
import type { FieldError } from '../status.ts';
import { type Findings, invalid } from './field-errors.ts';
import { objectsAt, textAt } from './fields.ts';
import { labelValue, qualifiedName, type Rule, subdomain } from './names.ts';

/** What every object's metadata has to satisfy, custom resources included. Names differ by kind; most are subdomains. */
export function validateMetadata(metadata: WireMeta, name: Rule = subdomain): readonly FieldError[] {
  return [...findings(metadata, name)];
}

function* findings(metadata: WireMeta, name: Rule): Findings {
  for (const message of name(metadata.name)) yield invalid('metadata.name', metadata.name, message);
  yield* labels('metadata.labels', metadata.labels ?? {});
  for (const key of Object.keys(metadata.annotations ?? {})) {
    // The real server compares annotations in lower case: their keys may be spelled in any.
    for (const message of qualifiedName(key.toLowerCase())) yield invalid('metadata.annotations', key, message);
  }
  yield* owners(objectsAt(metadata, 'ownerReferences'));
  for (const [index, finalizer] of (metadata.finalizers ?? []).entries()) {
    yield* finalizerName(`metadata.finalizers[${index}]`, finalizer);
  }
}

export function* labels(field: string, labels: Readonly<Record<string, unknown>>): Findings {
  for (const [key, value] of Object.entries(labels)) {
    for (const message of qualifiedName(key)) yield invalid(field, key, message);
    for (const message of labelValue(String(value))) yield invalid(field, value, message);
  }
}

const STANDARD_FINALIZERS = ['kubernetes', 'orphan', 'foregroundDeletion'];

function* finalizerName(field: string, finalizer: string): Findings {
  const messages = qualifiedName(finalizer);
  for (const message of messages) yield invalid(field, finalizer, message);
  if (messages.length === 0 && !finalizer.includes('/') && !STANDARD_FINALIZERS.includes(finalizer)) {
    yield invalid(field, finalizer, 'name is neither a standard finalizer name nor is it fully qualified');
  }
}

function* owners(references: readonly Readonly<Record<string, unknown>>[]): Findings {
  const field = 'metadata.ownerReferences';
  for (const reference of references) {
    for (const name of ['apiVersion', 'kind', 'name', 'uid']) {
      if (textAt(reference, name) === '') yield invalid(`${field}.${name}`, '', 'must not be empty');
    }
  }
  const [first, second] = references.filter((reference) => reference['controller'] === true);
  if (first && second) {
    const names = [first, second].map((owner) => `${textAt(owner, 'kind')}/${textAt(owner, 'name')}`);
    const detail = `Only one reference can have Controller set to true. Found "true" in references for ${names.join(' and ')}`;
    yield invalid(field, references, detail);
  }
}
