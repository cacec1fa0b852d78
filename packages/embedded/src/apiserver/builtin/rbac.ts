import type { WireObject } from '../served-kind.ts';
import type { Behaviour } from './behaviour.ts';
import { type Findings, invalid, notSupported, oneOf, required } from './field-errors.ts';
import { fill, isSame, listAt, objectAt, objectsAt, textAt, valueAt } from './fields.ts';

const GROUP = 'rbac.authorization.k8s.io';

/** Names of roles may be any path segment: `system:node`. */
const pathSegment = (name: string) => {
  if (name === '.' || name === '..') return [`may not be '${name}'`];
  return ['/', '%']
    .filter((character) => name.includes(character))
    .map((character) => `may not contain '${character}'`);
};

const roleOf = (isCluster: boolean): Behaviour => ({
  name: pathSegment,
  defaults: (object) => ({ ...object, rules: object['rules'] ?? null }),
  *validate(object) {
    for (const [index, rule] of objectsAt(object, 'rules').entries()) {
      const at = `rules[${index}]`;
      if (listAt(rule, 'verbs').length === 0) yield required(`${at}.verbs`, 'verbs must contain at least one value');
      if (listAt(rule, 'nonResourceURLs').length > 0) {
        if (!isCluster) {
          const detail = 'namespaced rules cannot apply to non-resource URLs';
          yield invalid(`${at}.nonResourceURLs`, valueAt(rule, 'nonResourceURLs'), detail);
        }
        continue;
      }
      if (listAt(rule, 'apiGroups').length === 0) {
        yield required(`${at}.apiGroups`, 'resource rules must supply at least one api group');
      }
      if (listAt(rule, 'resources').length === 0) {
        yield required(`${at}.resources`, 'resource rules must supply at least one resource');
      }
    }
  },
});

export const role = roleOf(false);
export const clusterRole = roleOf(true);

export const roleBinding = bindingOf(['Role', 'ClusterRole']);
export const clusterRoleBinding = bindingOf(['ClusterRole']);

function bindingOf(roleKinds: readonly string[]): Behaviour {
  return {
    name: pathSegment,
    defaults: (object) => ({
      ...object,
      roleRef: fill(objectAt(object, 'roleRef'), { apiGroup: GROUP }),
      ...(listAt(object, 'subjects').length > 0 && {
        subjects: objectsAt(object, 'subjects').map((subject) =>
          subject['kind'] === 'User' || subject['kind'] === 'Group' ? fill(subject, { apiGroup: GROUP }) : subject,
        ),
      }),
    }),
    *validate(object, old) {
      const reference = objectAt(object, 'roleRef');
      yield* oneOf('roleRef.apiGroup', textAt(reference, 'apiGroup'), [GROUP]);
      yield* oneOf('roleRef.kind', textAt(reference, 'kind'), roleKinds);
      if (textAt(reference, 'name') === '') yield required('roleRef.name');
      yield* validateSubjects(object);
      if (old && !isSame(reference, objectAt(old, 'roleRef'))) {
        const [APIGroup, Kind, Name] = ['apiGroup', 'kind', 'name'].map((name) => textAt(reference, name));
        yield invalid('roleRef', { APIGroup, Kind, Name }, 'cannot change roleRef');
      }
    },
  };
}

function* validateSubjects(object: WireObject): Findings {
  for (const [index, subject] of objectsAt(object, 'subjects').entries()) {
    const at = `subjects[${index}]`;
    const [kind, name] = [textAt(subject, 'kind'), textAt(subject, 'name')];
    if (name === '') yield required(`${at}.name`);
    if (!['ServiceAccount', 'User', 'Group'].includes(kind)) {
      yield notSupported(`${at}.kind`, kind, ['ServiceAccount', 'User', 'Group']);
    }
    if (kind === 'ServiceAccount' && name !== '' && textAt(subject, 'namespace') === '') {
      yield required(`${at}.namespace`);
    }
  }
}
