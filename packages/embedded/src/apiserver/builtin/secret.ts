import type { WireObject } from '../served-kind.ts';
import type { Behaviour } from './behaviour.ts';
import { staysImmutable, validateKeys } from './config-map.ts';
import { type Findings, invalid, required, unchanged } from './field-errors.ts';
import { objectAt, textAt, textsOf } from './fields.ts';

/** What a Secret of a known type has to have. */
const KEYS: Readonly<Record<string, readonly string[]>> = {
  'kubernetes.io/tls': ['tls.crt', 'tls.key'],
  'kubernetes.io/dockerconfigjson': ['.dockerconfigjson'],
  'kubernetes.io/dockercfg': ['.dockercfg'],
  'kubernetes.io/ssh-auth': ['ssh-privatekey'],
};

export const secret: Behaviour = {
  defaults: (object) => {
    const { stringData, ...rest } = object;
    const written = Object.entries(textsOf(objectAt({ stringData }, 'stringData'))).map(([key, text]) => [
      key,
      Buffer.from(text).toString('base64'),
    ]);
    // `stringData` is for writing only: it ends up in `data`, over what was there.
    const data = { ...objectAt(object, 'data'), ...Object.fromEntries(written) };
    return { ...rest, ...(Object.keys(data).length > 0 && { data }), type: textAt(object, 'type') || 'Opaque' };
  },
  *validate(object, old) {
    yield* validateKeys('data', object);
    yield* validateType(object);
    if (!old) return;
    yield* unchanged('type', object['type'], object['type'] === old['type']);
    yield* staysImmutable(object, old, ['data']);
  },
};

function* validateType(object: WireObject): Findings {
  const type = textAt(object, 'type');
  const data = objectAt(object, 'data');
  for (const key of KEYS[type] ?? []) {
    if (!Object.hasOwn(data, key)) yield required(`data[${key}]`);
    // The value itself is a secret: the real server hides it from the message as well.
    else if (type.startsWith('kubernetes.io/docker') && !isJson(textAt(data, key))) {
      yield invalid(`data[${key}]`, '<secret contents redacted>', 'invalid character');
    }
  }
  if (type === 'kubernetes.io/basic-auth' && !Object.hasOwn(data, 'username') && !Object.hasOwn(data, 'password')) {
    yield required('data[username]');
    yield required('data[password]');
  }
  if (type === 'kubernetes.io/service-account-token') {
    const annotation = 'kubernetes.io/service-account.name';
    if (!object.metadata.annotations?.[annotation]) yield required(`metadata.annotations[${annotation}]`);
  }
}

function isJson(base64: string): boolean {
  try {
    JSON.parse(Buffer.from(base64, 'base64').toString('utf8'));
    return true;
  } catch {
    return false;
  }
}
