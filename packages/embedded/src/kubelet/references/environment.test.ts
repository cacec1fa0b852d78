import type { Container } from '@polder/kube';
import { describe, expect, test } from 'vitest';
import { StartFailure } from '../runner.ts';
import { environmentOf, probeCommand } from './environment.ts';
import type { References } from './references.ts';
import { aPod, facts, holding } from './testdata.ts';

const nothing = holding({});

function envOf(container: Partial<Container>, references: References = nothing): Readonly<Record<string, string>> {
  const whole = { name: 'c', ...container };
  return Object.fromEntries(environmentOf(aPod({ containers: [whole] }), whole, references, facts).env);
}

describe('literals', () => {
  test('a variable can use those before it, and only those', () => {
    const env = [
      { name: 'FIRST', value: '$(LATER)' },
      { name: 'LATER', value: 'b' },
      { name: 'LAST', value: '$(LATER)-$(FIRST)' },
    ];
    expect(envOf({ env })).toEqual({ FIRST: '$(LATER)', LATER: 'b', LAST: 'b-$(LATER)' });
  });

  test('the last of two variables of one name wins, and can use the first', () => {
    const env = [
      { name: 'LIST', value: 'a' },
      { name: 'LIST', value: '$(LIST),b' },
    ];
    expect(envOf({ env })).toEqual({ LIST: 'a,b' });
  });

  test('command and arguments are expanded, too', () => {
    const container = {
      name: 'c',
      command: ['serve', '$(PORT)'],
      args: ['--port=$(PORT)', '$$(PORT)', '$(OTHER)'],
      env: [{ name: 'PORT', value: '80' }],
    };
    const { command, args } = environmentOf(aPod({ containers: [container] }), container, nothing, facts);
    expect(command).toEqual(['serve', '80']);
    expect(args).toEqual(['--port=80', '$(PORT)', '$(OTHER)']);
  });

  test('a probe knows the variables as they are written, and the others as empty', () => {
    const env = [
      { name: 'A', value: 'a' },
      { name: 'B', value: '$(A)' },
      { name: 'NODE', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } },
    ];
    const probe = { exec: { command: ['check', '$(A)', '$(B)', '[$(NODE)]', '$(X)'] } };
    expect(probeCommand(probe, { name: 'c', env })).toEqual(['check', 'a', '$(A)', '[]', '$(X)']);
  });
});

describe('values of ConfigMaps and Secrets', () => {
  const references = holding({
    configMaps: { settings: { data: { level: 'debug', 'log.format': 'json' } } },
    secrets: { login: { password: 'pässword', level: 'secret' } },
  });

  test('a key of each', () => {
    const env = [
      { name: 'LEVEL', valueFrom: { configMapKeyRef: { name: 'settings', key: 'level' } } },
      { name: 'PASSWORD', valueFrom: { secretKeyRef: { name: 'login', key: 'password' } } },
      { name: 'URL', value: 'http://user:$(PASSWORD)@db' },
    ];
    const expected = { LEVEL: 'debug', PASSWORD: 'pässword', URL: 'http://user:pässword@db' };
    expect(envOf({ env }, references)).toEqual(expected);
  });

  test('all keys with a prefix; later sources and own variables win', () => {
    const envFrom = [
      { prefix: 'APP_', configMapRef: { name: 'settings' } },
      { configMapRef: { name: 'settings' } },
      { secretRef: { name: 'login' } },
    ];
    expect(envOf({ envFrom, env: [{ name: 'password', value: 'own, not $(password)' }] }, references)).toEqual({
      APP_level: 'debug',
      'APP_log.format': 'json',
      level: 'secret',
      'log.format': 'json',
      password: 'own, not pässword',
    });
  });

  test('what is optional may be missing: the variable is not there', () => {
    const optional = true;
    const env = [
      { name: 'A', valueFrom: { configMapKeyRef: { name: 'none', key: 'a', optional } } },
      { name: 'B', valueFrom: { configMapKeyRef: { name: 'settings', key: 'none', optional } } },
      { name: 'C', valueFrom: { secretKeyRef: { name: 'none', key: 'c', optional } } },
      { name: 'D', valueFrom: { secretKeyRef: { name: 'login', key: 'none', optional } } },
    ];
    const envFrom = [{ configMapRef: { name: 'none', optional } }, { secretRef: { name: 'none', optional } }];
    expect(envOf({ env, envFrom }, references)).toEqual({});
  });

  test.each<[string, Partial<Container>]>([
    ['configmap "x" not found', { envFrom: [{ configMapRef: { name: 'x' } }] }],
    ['secret "x" not found', { envFrom: [{ secretRef: { name: 'x' } }] }],
    ['configmap "x" not found', { env: [{ name: 'V', valueFrom: { configMapKeyRef: { name: 'x', key: 'k' } } }] }],
    ['secret "x" not found', { env: [{ name: 'V', valueFrom: { secretKeyRef: { name: 'x', key: 'k' } } }] }],
    [
      "couldn't find key k in ConfigMap shop/settings",
      { env: [{ name: 'V', valueFrom: { configMapKeyRef: { name: 'settings', key: 'k' } } }] },
    ],
    [
      "couldn't find key k in Secret shop/login",
      { env: [{ name: 'V', valueFrom: { secretKeyRef: { name: 'login', key: 'k' } } }] },
    ],
    ['unsupported fieldPath: spec.x', { env: [{ name: 'V', valueFrom: { fieldRef: { fieldPath: 'spec.x' } } }] }],
  ])('%s: the container waits with CreateContainerConfigError', (message, container) => {
    const starting = () => envOf(container, references);
    expect(starting).toThrow(StartFailure);
    expect(starting).toThrow(expect.objectContaining({ reason: 'CreateContainerConfigError', message }));
  });
});

describe('what a pod knows of itself', () => {
  test.each([
    ['metadata.name', 'web'],
    ['metadata.namespace', 'shop'],
    ['metadata.uid', '4bb0d3c6-6f9b-4c65-a3c4-0c0e7e3f3f52'],
    ["metadata.labels['app']", 'web'],
    ["metadata.labels['none']", ''],
    ["metadata.annotations['example.com/note']", 'say "hi"\n'],
    ['metadata.labels', 'app="web"\ntier="front"'],
    ['metadata.annotations', 'example.com/note="say \\"hi\\"\\n"'],
    ['spec.nodeName', 'node-1'],
    ['spec.serviceAccountName', 'robot'],
    ['status.hostIP', '127.0.0.1'],
    ['status.hostIPs', '127.0.0.1'],
    ['status.podIP', '127.1.0.7'],
    ['status.podIPs', '127.1.0.7,fd00::7'],
  ])('%s', (fieldPath, value) => {
    expect(envOf({ env: [{ name: 'V', valueFrom: { fieldRef: { fieldPath } } }] })).toEqual({ V: value });
  });

  test.each([
    ['limits.cpu', undefined, '2'],
    ['limits.cpu', '1m', '1500'],
    ['requests.cpu', undefined, '1'],
    ['requests.cpu', '1m', '250'],
    ['limits.memory', undefined, '104857600'],
    ['limits.memory', '1Mi', '100'],
    ['limits.memory', '1Gi', '1'],
    ['limits.memory', '0', '104857600'],
    ['requests.memory', '1Mi', '0'],
    ['limits.ephemeral-storage', '1Gi', '100'],
    ['requests.hugepages-2Mi', '1Mi', '4'],
  ])('%s in units of %s is %s', (resource, divisor, value) => {
    const resources = {
      limits: { cpu: '1500m', memory: '100Mi' },
      requests: { cpu: '250m', 'hugepages-2Mi': '4Mi' },
    };
    const resourceFieldRef = { resource, ...(divisor !== undefined && { divisor }) };
    expect(envOf({ resources, env: [{ name: 'V', valueFrom: { resourceFieldRef } }] })).toEqual({ V: value });
  });

  test('without a limit of the container the limit is that of the pod, then that of the node', () => {
    const env = ['limits.cpu', 'limits.memory'].map((resource) => ({
      name: resource,
      valueFrom: { resourceFieldRef: { resource, divisor: resource.endsWith('cpu') ? '1' : '1Gi' } },
    }));
    const container = { name: 'c', env };
    const pod = aPod({ containers: [container], resources: { limits: { cpu: '3' } } });
    const found = environmentOf(pod, container, nothing, facts).env;
    expect(Object.fromEntries(found)).toEqual({ 'limits.cpu': '3', 'limits.memory': '8' });
  });
});
