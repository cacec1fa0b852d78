import { parse } from 'yaml';
import type { PeerCertificates } from '../certificates.ts';
import { isObject, type Json, type JsonObject, present } from '../json.ts';
import type { PeerSettings } from '../settings.ts';
import { fileAt, type Place } from './place.ts';

/** What a container is told by its files, its variables and its flags. */
export interface Configuration {
  readonly peer: PeerSettings;
  /** What clients are shown, if they come over TLS. */
  readonly tls: PeerCertificates | undefined;
}

export class ConfigurationError extends Error {}

/** Where the image has its program: paths in the configuration start there. */
const HOME = '/qdrant';

export function configurationOf(place: Place): Configuration {
  const config = configOf(place);
  const flags = flagsOf(place.args);
  const uri = flags.get('uri') ?? place.env.get('QDRANT_URI');
  const bootstrap = flags.get('bootstrap') ?? place.env.get('QDRANT_BOOTSTRAP');
  const isClustered = textAt(config, 'cluster', 'enabled') === 'true';
  if (isClustered && uri === undefined) {
    throw new ConfigurationError(
      'a peer needs --uri (or QDRANT_URI). A stand-in runs no scripts: give its flags as arguments of the container, or as variables',
    );
  }
  for (const [flag, value] of Object.entries({ uri, bootstrap })) {
    if (value && !URL.canParse(value)) throw new ConfigurationError(`--${flag} is '${value}', which is no URI`);
  }
  const version = /:v?(\d+\.\d+\.\d+)/.exec(place.container.image ?? '')?.[1];
  const peerId = textAt(config, 'cluster', 'peer_id');
  const [apiKey, altApiKey, readOnlyApiKey] = ['api_key', 'alt_api_key', 'read_only_api_key'].map((key) =>
    textAt(config, 'service', key),
  );
  const replicationFactor = textAt(config, 'storage', 'collection', 'replication_factor');
  const writeConsistencyFactor = textAt(config, 'storage', 'collection', 'write_consistency_factor');
  const isOn = (...path: readonly string[]) => textAt(config, ...path) === 'true';
  const [ofService, ofPeers] = [isOn('service', 'enable_tls'), isOn('cluster', 'p2p', 'enable_tls')];
  const certificates = ofService || ofPeers ? certificatesOf(place, config, ofPeers) : undefined;
  return {
    peer: {
      uri: uri ?? `http://${place.address}:6335`,
      isClustered,
      reinit: flags.has('reinit'),
      collections: {
        ...(replicationFactor !== undefined && { replicationFactor: Number(replicationFactor) }),
        ...(writeConsistencyFactor !== undefined && { writeConsistencyFactor: Number(writeConsistencyFactor) }),
      },
      ...(bootstrap && { bootstrap }),
      ...(version !== undefined && { version }),
      ...(peerId !== undefined && { peerId }),
      ...(apiKey && { apiKey }),
      ...(altApiKey && { altApiKey }),
      ...(readOnlyApiKey && { readOnlyApiKey }),
      ...(ofPeers && certificates && { certificates }),
    },
    tls: ofService ? certificates : undefined,
  };
}

/** Whom to trust is for peers to know; clients are let in without a certificate. */
function certificatesOf(place: Place, config: JsonObject, isOfPeers: boolean): PeerCertificates {
  const file = (name: string, otherwise: string): string => {
    const path = (textAt(config, 'tls', name) ?? `./tls/${otherwise}.pem`).replace(/^\.\//, `${HOME}/`);
    const content = fileAt(place, path);
    if (content === undefined) throw new ConfigurationError(`TLS is enabled, and there is no file ${path}`);
    return content;
  };
  return { cert: file('cert', 'cert'), key: file('key', 'key'), ca: isOfPeers ? file('ca_cert', 'cacert') : '' };
}

/** Later ones win: the common file, that of the mode, the local one, the one of `--config-path`, variables. */
function configOf(place: Place): JsonObject {
  const mode = place.env.get('RUN_MODE') ?? 'production';
  const chosen = flagsOf(place.args).get('config-path');
  const paths = ['config', mode, 'local'].map((name) => `${HOME}/config/${name}.yaml`);
  const files = [...paths, ...(chosen === undefined ? [] : [chosen])].map((path) => yaml(fileAt(place, path)));
  return [...files, ...variables(place.env)].reduce(merged, {});
}

function yaml(text: string | undefined): JsonObject {
  const content: Json = text === undefined ? {} : parse(text);
  return isObject(content) ? content : {};
}

/** `QDRANT__SERVICE__API_KEY=x` is `service: { api_key: x }`. */
function variables(env: ReadonlyMap<string, string>): readonly JsonObject[] {
  return [...env]
    .filter(([name]) => name.startsWith('QDRANT__'))
    .map(([name, value]) => {
      const path = name.slice('QDRANT__'.length).toLowerCase().split('__');
      return path.reduceRight<Json>((inner, key) => ({ [key]: inner }), value);
    })
    .filter((one) => isObject(one));
}

function merged(below: JsonObject, above: JsonObject): JsonObject {
  const both = Object.entries(above).map(([key, value]) => {
    const under = below[key];
    return [key, isObject(under) && isObject(value) ? merged(under, value) : value] as const;
  });
  return present({ ...below, ...Object.fromEntries(both) });
}

/** Files say `true`, variables say `"true"`: both are text here. */
function textAt(config: JsonObject, ...path: readonly string[]): string | undefined {
  const value = path.reduce<Json | undefined>((inner, key) => (isObject(inner) ? inner[key] : undefined), config);
  return value === undefined || value === null || typeof value === 'object' ? undefined : String(value);
}

/** `--uri x`, `--uri=x`, `--reinit`. */
function flagsOf(args: readonly string[]): ReadonlyMap<string, string> {
  const flags = new Map<string, string>();
  for (const [at, arg] of args.entries()) {
    const [, name, value] = /^--([a-z-]+)(?:=(.*))?$/.exec(arg) ?? [];
    const next = args[at + 1];
    if (name !== undefined) flags.set(name, value ?? (next === undefined || next.startsWith('--') ? '' : next));
  }
  return flags;
}
