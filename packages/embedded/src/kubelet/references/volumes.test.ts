import type { Volume as VolumeSpec } from '@polder/kube';
import { describe, expect, test } from 'vitest';
import type { Volume } from '../runner.ts';
import type { References } from './references.ts';
import { aPod, facts, holding } from './testdata.ts';
import { volumesOf } from './volumes.ts';

function resolved(volume: Omit<VolumeSpec, 'name'>, references: References = holding({})) {
  const volumeMounts = [{ name: 'v', mountPath: '/v' }];
  const pod = aPod({ containers: [{ name: 'c', volumeMounts }], volumes: [{ name: 'v', ...volume }] });
  return volumesOf(pod, references, facts);
}

function filesOf({ volumes, failures }: ReturnType<typeof resolved>) {
  expect(failures).toEqual([]);
  const [volume] = volumes;
  return volume && contents(volume);
}

function contents(volume: Volume): Readonly<Record<string, string>> {
  if (volume.is !== 'files') throw new Error(`${volume.name} is ${volume.is}`);
  const entries = [...volume.files].map(([path, { bytes, mode }]) => [
    path,
    `${mode.toString(8)} ${Buffer.from(bytes).toString()}`,
  ]);
  return Object.fromEntries(entries);
}

const references = holding({
  configMaps: { settings: { data: { a: 'text', b: 'other' }, binaryData: { c: 'Ynl0ZXM=' } } },
  secrets: { login: { password: 'p' } },
  claims: {
    data: { spec: { volumeName: 'pv-1' }, status: { phase: 'Bound' } },
    new: { status: { phase: 'Pending' } },
  },
});

describe('files', () => {
  test('every key of a ConfigMap is a file', () => {
    const files = filesOf(resolved({ configMap: { name: 'settings', defaultMode: 0o600 } }, references));
    expect(files).toEqual({ a: '600 text', b: '600 other', c: '600 bytes' });
  });

  test('only the keys that items name, at their paths, with their modes', () => {
    const items = [
      { key: 'a', path: 'etc/./a.conf', mode: 0o400 },
      { key: 'c', path: 'c' },
    ];
    const files = filesOf(resolved({ configMap: { name: 'settings', items } }, references));
    expect(files).toEqual({ 'etc/a.conf': '400 text', c: '644 bytes' });
  });

  test('a Secret is decoded', () => {
    expect(filesOf(resolved({ secret: { secretName: 'login' } }, references))).toEqual({ password: '644 p' });
  });

  test('a projected volume joins its sources, and the later one wins', () => {
    const sources = [
      {
        configMap: {
          name: 'settings',
          items: [
            { key: 'a', path: 'same' },
            { key: 'b', path: 'b' },
          ],
        },
      },
      { secret: { name: 'login', items: [{ key: 'password', path: 'same' }] } },
      { downwardAPI: { items: [{ path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } }] } },
    ];
    const files = filesOf(resolved({ projected: { sources, defaultMode: 0o440 } }, references));
    expect(files).toEqual({ same: '440 p', b: '440 other', labels: '440 app="web"\ntier="front"' });
  });

  test('a pod tells about itself and its containers', () => {
    const items = [
      { path: 'name', fieldRef: { fieldPath: 'metadata.name' } },
      { path: 'cpu', mode: 0o444, resourceFieldRef: { containerName: 'c', resource: 'limits.cpu' } },
    ];
    expect(filesOf(resolved({ downwardAPI: { items } }))).toEqual({ name: '644 web', cpu: '444 4' });
  });

  test('what is optional may be missing', () => {
    const optional = true;
    const missingKey = { name: 'settings', optional, items: [{ key: 'none', path: 'x' }] };
    expect(filesOf(resolved({ configMap: { name: 'none', optional } }))).toEqual({});
    expect(filesOf(resolved({ secret: { secretName: 'none', optional } }))).toEqual({});
    expect(filesOf(resolved({ configMap: missingKey }, references))).toEqual({});
  });
});

test('directories, claims and paths of the host come through as they are', () => {
  expect(resolved({ emptyDir: {} }).volumes).toEqual([{ name: 'v', is: 'empty' }]);
  expect(resolved({ hostPath: { path: '/srv' } }).volumes).toEqual([{ name: 'v', is: 'host', path: '/srv' }]);
  const claim = { namespace: 'shop', name: 'data', volumeName: 'pv-1' };
  const { volumes } = resolved({ persistentVolumeClaim: { claimName: 'data' } }, references);
  expect(volumes).toEqual([{ name: 'v', is: 'claim', claim }]);
});

describe('failures', () => {
  const unprocessed =
    'Unable to attach or mount volumes: unmounted volumes=[v], unattached volumes=[], failed to process volumes=[v]: error processing PVC shop';
  const notMounted = 'MountVolume.SetUp failed for volume "v" :';
  test.each<[string, Omit<VolumeSpec, 'name'>]>([
    [`${notMounted} configmap "x" not found`, { configMap: { name: 'x' } }],
    [`${notMounted} secret "x" not found`, { secret: { secretName: 'x' } }],
    [
      `${notMounted} configmap references non-existent config key: k`,
      { configMap: { name: 'settings', items: [{ key: 'k', path: 'k' }] } },
    ],
    [
      `${notMounted} references non-existent secret key: k`,
      { secret: { secretName: 'login', items: [{ key: 'k', path: 'k' }] } },
    ],
    [
      `${notMounted} [configmap "x" not found, secret "y" not found]`,
      { projected: { sources: [{ configMap: { name: 'x' } }, { secret: { name: 'y' } }] } },
    ],
    [
      `${notMounted} projected source serviceAccountToken is not supported`,
      { projected: { sources: [{ serviceAccountToken: { path: 'token' } }] } },
    ],
    [`${notMounted} volumes of the kind nfs are not supported`, { nfs: { path: '/', server: 'files' } }],
    [
      `${unprocessed}/x: failed to fetch PVC from API server: persistentvolumeclaims "x" not found`,
      { persistentVolumeClaim: { claimName: 'x' } },
    ],
    [`${unprocessed}/new: PVC is not bound`, { persistentVolumeClaim: { claimName: 'new' } }],
  ])('%s', (message, volume) => {
    expect(resolved(volume, references)).toEqual({ volumes: [], failures: [message] });
  });

  test.each([
    ['../up', "must not contain '..': ../up"],
    ['a/../../up', "must not contain '..': a/../../up"],
    ['/etc/passwd', 'must be relative path: /etc/passwd'],
    ['..data', "must not start with '..': ..data"],
    ['', 'must not be empty: ""'],
  ])('no file leaves its volume: %s', (path, rule) => {
    const { failures } = resolved({ configMap: { name: 'settings', items: [{ key: 'a', path }] } }, references);
    expect(failures).toEqual([`${notMounted} invalid path: ${rule}`]);
  });

  test('a volume that no container mounts may be missing', () => {
    const pod = aPod({ containers: [{ name: 'c' }], volumes: [{ name: 'v', configMap: { name: 'x' } }] });
    expect(volumesOf(pod, references, facts)).toEqual({ volumes: [], failures: [] });
  });
});
