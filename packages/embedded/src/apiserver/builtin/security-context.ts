import { isObject, type JsonObject } from '../schema/schema.ts';
import { duplicate, type Findings, invalid, oneOf, required } from './field-errors.ts';
import { isAbsent, listAt, numberAt, objectsAt, textAt, textsAt } from './fields.ts';

/** What all containers of a pod run with. */
export function* validatePodSecurity(field: string, context: JsonObject): Findings {
  yield* validateIds(field, context, ['fsGroup', 'runAsUser', 'runAsGroup']);
  for (const [index, group] of listAt(context, 'supplementalGroups').entries()) {
    if (typeof group === 'number') yield* validateId(`${field}.supplementalGroups[${index}]`, group);
  }
  yield* validateSysctls(`${field}.sysctls`, objectsAt(context, 'sysctls'));
  const policy = textAt(context, 'fsGroupChangePolicy');
  if (policy !== '') yield* oneOf(`${field}.fsGroupChangePolicy`, policy, ['Always', 'OnRootMismatch']);
  yield* validateSeccomp(`${field}.seccompProfile`, context['seccompProfile']);
}

/** What one container runs with. */
export function* validateContainerSecurity(field: string, context: JsonObject): Findings {
  yield* validateIds(field, context, ['runAsUser', 'runAsGroup']);
  const mount = textAt(context, 'procMount');
  if (mount !== '') yield* oneOf(`${field}.procMount`, mount, ['Default', 'Unmasked']);
  yield* validateSeccomp(`${field}.seccompProfile`, context['seccompProfile']);
  if (context['allowPrivilegeEscalation'] !== false) return;
  const cannot = 'cannot set `allowPrivilegeEscalation` to false and';
  if (context['privileged'] === true) yield invalid(field, context, `${cannot} \`privileged\` to true`);
  if (textsAt(context, 'capabilities', 'add').includes('CAP_SYS_ADMIN')) {
    yield invalid(field, context, `${cannot} \`capabilities.Add\` CAP_SYS_ADMIN`);
  }
}

function* validateIds(field: string, context: JsonObject, names: readonly string[]): Findings {
  for (const name of names) {
    const id = numberAt(context, name);
    if (id !== undefined) yield* validateId(`${field}.${name}`, id);
  }
}

function* validateId(field: string, id: number): Findings {
  if (id < 0 || id > 2 ** 31 - 1) yield invalid(field, id, 'must be between 0 and 2147483647, inclusive');
}

const SYSCTL = '^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$';

function* validateSysctls(field: string, sysctls: readonly JsonObject[]): Findings {
  const names = new Set<string>();
  for (const [index, sysctl] of sysctls.entries()) {
    const [at, name] = [`${field}[${index}].name`, textAt(sysctl, 'name')];
    if (name === '') yield required(at);
    else if (name.length > 253 || !new RegExp(SYSCTL).test(name)) {
      yield invalid(at, name, `must have at most 253 characters and match regex ${SYSCTL}`);
    } else if (names.has(name)) yield duplicate(at, name);
    names.add(name);
  }
}

function* validateSeccomp(field: string, profile: unknown): Findings {
  if (!isObject(profile)) return;
  const [at, type, path] = [`${field}.localhostProfile`, textAt(profile, 'type'), textAt(profile, 'localhostProfile')];
  if (type !== 'Localhost') {
    if (!isAbsent(profile['localhostProfile'])) {
      const shown = { Type: type, LocalhostProfile: path };
      yield invalid(at, shown, 'can only be set when seccomp type is Localhost');
    }
    yield* oneOf(`${field}.type`, type, ['Localhost', 'RuntimeDefault', 'Unconfined']);
  } else if (path === '') yield required(at, 'must be set when seccomp type is Localhost');
  else if (path.startsWith('/')) yield invalid(at, path, 'must be a relative path');
  else if (path.split('/').includes('..')) yield invalid(at, path, "must not contain '..'");
}
