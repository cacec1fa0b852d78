import type { JsonObject } from '../schema/schema.ts';
import { duplicate, type Findings, forbidden, invalid, notFound, required } from './field-errors.ts';
import { isAbsent, isSame, objectsAt, textAt } from './fields.ts';
import { label } from './names.ts';

const FIELD = 'spec.ephemeralContainers';

/** They come for debugging and are no part of what the pod promises: nothing is reserved, probed or reached. */
const UNFIT = ['ports', 'resources', 'livenessProbe', 'readinessProbe', 'startupProbe', 'lifecycle'];

/** Containers that join a running pod; what has joined stays as it is. `old` is the spec before an update. */
export function* validateEphemeralContainers(spec: JsonObject, old: JsonObject | undefined): Findings {
  const containers = objectsAt(spec, 'ephemeralContainers');
  if (old === undefined && containers.length > 0) yield forbidden(FIELD, 'cannot be set on create');
  const others = [...objectsAt(spec, 'containers'), ...objectsAt(spec, 'initContainers')].map(nameOf);
  const taken = new Set(others);
  for (const [index, container] of containers.entries()) {
    const at = `${FIELD}[${index}]`;
    const name = nameOf(container);
    if (name === '') yield required(`${at}.name`);
    else for (const message of label(name)) yield invalid(`${at}.name`, name, message);
    if (textAt(container, 'image') === '') yield required(`${at}.image`);
    if (name !== '' && taken.has(name)) yield duplicate(`${at}.name`, name);
    taken.add(name);
    const target = textAt(container, 'targetContainerName');
    if (target !== '' && !others.includes(target)) yield notFound(`${at}.targetContainerName`, target);
    for (const field of UNFIT.filter((one) => !isUnset(container, one))) {
      yield forbidden(`${at}.${field}`, 'cannot be set for an Ephemeral Container');
    }
  }
  for (const before of objectsAt(old ?? {}, 'ephemeralContainers')) {
    const after = containers.find((container) => nameOf(container) === nameOf(before));
    const what = `existing ephemeral containers ${JSON.stringify(nameOf(before))} may not be`;
    // The real server appends a diff of its internal structures.
    if (after === undefined) yield forbidden(FIELD, `${what} removed\n`);
    else if (!isSame(after, before)) yield forbidden(FIELD, `${what} changed\n`);
  }
}

const nameOf = (container: JsonObject) => textAt(container, 'name');

/** Requirements are there by default, empty. */
const isUnset = (container: JsonObject, field: string) =>
  isAbsent(container[field]) || (field === 'resources' && isSame(container[field], {}));
