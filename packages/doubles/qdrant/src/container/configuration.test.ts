import { expect, test } from 'vitest';
import { configurationOf } from './configuration.ts';
import type { Place } from './place.ts';

interface Given {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly image?: string;
  /** By the path where each is mounted by itself. */
  readonly files?: Readonly<Record<string, string>>;
}

const place = ({ args = [], env = {}, image = 'qdrant/qdrant', files = {} }: Given): Place => ({
  container: { image, volumeMounts: Object.keys(files).map((mountPath) => ({ mountPath, subPath: 'file' })) },
  address: '127.64.0.1',
  env: new Map(Object.entries(env)),
  args,
  volumeAt: (mountPath) => ({
    is: 'files',
    files: new Map([['file', { bytes: Buffer.from(files[mountPath] ?? '') }]]),
  }),
  directoryAt: () => undefined,
  say: () => {},
  crash: () => {},
});

const CLUSTERED = { QDRANT__CLUSTER__ENABLED: 'true' };
const uri = 'http://a:6335';

test('flags are given apart or with an equals sign, and win over variables', () => {
  const env = { ...CLUSTERED, QDRANT_URI: 'http://other:6335', QDRANT_BOOTSTRAP: 'http://b:6335' };
  expect(configurationOf(place({ env, args: ['--uri', uri, '--reinit'] })).peer).toMatchObject({
    uri,
    bootstrap: 'http://b:6335',
    reinit: true,
  });
  expect(configurationOf(place({ env, args: [`--uri=${uri}`, '--bootstrap='] })).peer).not.toHaveProperty('bootstrap');
});

test('without a word about a cluster it is a server on its own', () => {
  expect(configurationOf(place({})).peer).toMatchObject({ isClustered: false, uri: 'http://127.64.0.1:6335' });
});

test('the later of files and variables wins, key by key', () => {
  const files = {
    '/qdrant/config/production.yaml': 'cluster: { enabled: true }\nservice: { api_key: one, read_only_api_key: look }',
    '/qdrant/config/local.yaml': 'service: { api_key: two, alt_api_key: 3 }',
    '/etc/more.yaml': 'storage: { collection: { replication_factor: 2, write_consistency_factor: 2 } }',
  };
  const env = { QDRANT_URI: uri, QDRANT__SERVICE__API_KEY: 'four', QDRANT__CLUSTER__PEER_ID: '9007199254740993' };
  expect(configurationOf(place({ files, env, args: ['--config-path', '/etc/more.yaml'] })).peer).toEqual({
    uri,
    isClustered: true,
    reinit: false,
    apiKey: 'four',
    altApiKey: '3',
    readOnlyApiKey: 'look',
    peerId: '9007199254740993',
    collections: { replicationFactor: 2, writeConsistencyFactor: 2 },
  });
});

test('the version is that of the image', () => {
  for (const image of ['qdrant/qdrant:v1.18.3', 'registry:5000/qdrant/qdrant:v1.18.3-unprivileged']) {
    expect(configurationOf(place({ image })).peer.version).toBe('1.18.3');
  }
  expect(configurationOf(place({ image: 'qdrant/qdrant:latest' })).peer).not.toHaveProperty('version');
});

test('TLS takes its files from where the configuration says, and says which one is missing', () => {
  const env = { QDRANT__SERVICE__ENABLE_TLS: 'true' };
  const files = { '/qdrant/tls/cert.pem': 'C', '/etc/key': 'K' };
  expect(configurationOf(place({ env: { ...env, QDRANT__TLS__KEY: '/etc/key' }, files })).tls).toEqual({
    cert: 'C',
    key: 'K',
    ca: '',
  });
  const ofPeers = { ...CLUSTERED, QDRANT__CLUSTER__P2P__ENABLE_TLS: 'true', QDRANT__TLS__KEY: '/etc/key' };
  const trusting = { ...files, '/qdrant/tls/cacert.pem': 'A' };
  expect(configurationOf(place({ env: ofPeers, files: trusting, args: ['--uri', uri] }))).toMatchObject({
    peer: { certificates: { cert: 'C', key: 'K', ca: 'A' } },
    tls: undefined,
  });
  expect(() => configurationOf(place({ env, files }))).toThrow(
    'TLS is enabled, and there is no file /qdrant/tls/key.pem',
  );
});

test('what is no URI is named', () => {
  expect(() => configurationOf(place({ args: ['--uri', uri, '--bootstrap', 'nonsense'] }))).toThrow(
    "--bootstrap is 'nonsense', which is no URI",
  );
});

test('a peer without a URI is told what to give', () => {
  expect(() => configurationOf(place({ env: CLUSTERED, args: ['-c', './config/initialize.sh'] }))).toThrow(
    'a peer needs --uri',
  );
});
