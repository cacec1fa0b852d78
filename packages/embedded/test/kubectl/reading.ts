import { configMap, deployment, pod, service } from '../contract/objects.ts';
import { definitionOf } from '../contract/world.ts';
import { cases, expect } from './cases.ts';
import type { Kubectl } from './kubectl.ts';

const labelled = (name: string, tier: string) => pod(name, { nodeName: 'n1' }, { labels: { tier } });

/** A custom resource with two columns and one object of it; the plural name to ask for. */
async function widgets(kubectl: Kubectl): Promise<{ readonly group: string; readonly name: string }> {
  const group = `${kubectl.namespace}.example.com`;
  const name = `widgets.${group}`;
  const definition = definitionOf(group, {
    names: { shortNames: [`w${kubectl.namespace.slice(-8)}`] },
    spec: {
      type: 'object',
      description: 'What is wanted.',
      properties: {
        size: { type: 'integer', description: 'How big it is.' },
        nested: { type: 'object', properties: { mode: { type: 'string', enum: ['fast', 'safe'] } } },
      },
    },
    columns: [
      { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
      { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
      { name: 'Mode', type: 'string', jsonPath: '.spec.nested.mode', priority: 1 },
    ],
    subresources: { status: {} },
  });
  await kubectl.creates(definition);
  await kubectl.says(['wait', '--for=condition=Established', `crd/${name}`, '--timeout=30s']);
  const widget = {
    apiVersion: `${group}/v1`,
    kind: 'Widget',
    metadata: { name: 'a' },
    spec: { size: 3, nested: { mode: 'fast' } },
  };
  await kubectl.says(['apply', '-f', '-'], { stdin: JSON.stringify(widget) });
  return { group, name };
}

export const reading = cases((promise) => {
  promise('get: a table, wide, without headers', async (kubectl) => {
    await kubectl.says(['apply', '-f', kubectl.file('web.yaml', deployment('web', { replicas: 2 }))]);
    const [head, row] = await kubectl.rows(['get', 'deployments']);
    expect(head).toEqual(['NAME', 'READY', 'UP-TO-DATE', 'AVAILABLE', 'AGE']);
    expect(row?.slice(0, 4)).toEqual(['web', '0/2', '0', '0']);
    const [wideHead, wide] = await kubectl.rows(['get', 'deploy', '-o', 'wide']);
    expect(wideHead?.slice(5)).toEqual(['CONTAINERS', 'IMAGES', 'SELECTOR']);
    expect(wide?.slice(5)).toEqual(['main', 'example.com/main:1', 'app=web']);
    expect(await kubectl.rows(['get', 'deploy', '--no-headers'])).toHaveLength(1);
  });

  promise('get: nothing is not an error', async (kubectl) => {
    const { code, stdout, stderr } = await kubectl.run(['get', 'pods']);
    expect({ code, stdout, stderr }).toEqual({
      code: 0,
      stdout: '',
      stderr: `No resources found in ${kubectl.namespace} namespace.\n`,
    });
  });

  promise('get -o yaml, json, name, jsonpath, custom-columns, go-template', async (kubectl) => {
    await kubectl.says(['apply', '-f', kubectl.file('a.yaml', configMap('a', { k: 'v' }))]);
    expect(await kubectl.says(['get', 'cm', 'a', '-o', 'yaml'])).toMatch(
      /^apiVersion: v1\ndata:\n {2}k: v\nkind: ConfigMap\nmetadata:\n/,
    );
    expect(JSON.parse(await kubectl.says(['get', 'cm', 'a', '-o', 'json']))).toMatchObject({ data: { k: 'v' } });
    expect(JSON.parse(await kubectl.says(['get', 'cm', '-o', 'json']))).toMatchObject({
      kind: 'List',
      items: [{ kind: 'ConfigMap', metadata: { name: 'a' } }],
    });
    expect(await kubectl.says(['get', 'cm', 'a', '-o', 'name'])).toBe('configmap/a\n');
    expect(await kubectl.says(['get', 'cm', '-o', 'custom-columns=WHAT:.metadata.name,K:.data.k'])).toBe(
      'WHAT   K\na      v\n',
    );
    expect(await kubectl.says(['get', 'cm', 'a', '-o', 'go-template={{.data.k}}'])).toBe('v');
  });

  promise('get: by label, by field, sorted, over all namespaces, with labels', async (kubectl) => {
    await kubectl.says(['create', '-f', kubectl.file('p.yaml', labelled('b', 'one'), labelled('a', 'two'))]);
    expect(await kubectl.says(['get', 'pods', '-l', 'tier=one', '-o', 'name'])).toBe('pod/b\n');
    expect(await kubectl.says(['get', 'pods', '-l', 'tier in (two),tier!=one', '-o', 'name'])).toBe('pod/a\n');
    expect(await kubectl.says(['get', 'pods', '--field-selector=metadata.name=b', '-o', 'name'])).toBe('pod/b\n');
    expect(await kubectl.says(['get', 'pods', '--field-selector=status.phase!=Pending', '-o', 'name'])).toBe('');
    expect(await kubectl.says(['get', 'pods', '--sort-by=.metadata.labels.tier', '-o', 'name'])).toBe('pod/b\npod/a\n');
    const everywhere = await kubectl.rows(['get', 'pods', '-A', '-l', 'tier=one', '--no-headers']);
    expect(everywhere.map(([namespace, name]) => `${namespace}/${name}`)).toContain(`${kubectl.namespace}/b`);
    const [head, row] = await kubectl.rows(['get', 'pods', 'a', '--show-labels']);
    expect([head?.at(-1), row?.at(-1)]).toEqual(['LABELS', 'tier=two']);
    expect((await kubectl.rows(['get', 'pods', 'a', '-L', 'tier']))[1]?.at(-1)).toBe('two');
  });

  promise('get: in chunks sees everything', async (kubectl) => {
    const all = ['a', 'b', 'c', 'd', 'e'].map((name) => configMap(name, { k: name }));
    await kubectl.says(['create', '-f', kubectl.file('all.yaml', ...all)]);
    expect(await kubectl.rows(['get', 'cm', '--chunk-size=2', '--no-headers'])).toHaveLength(5);
  });

  promise('get -w: prints every change as it comes', async (kubectl) => {
    await kubectl.says(['create', '-f', kubectl.file('p.yaml', labelled('a', 'one'))]);
    const watch = kubectl.start(['get', 'pods', '-w']);
    await watch.prints(/a +0\/1 +Pending/);
    const status = JSON.stringify({ status: { phase: 'Running' } });
    await kubectl.says(['patch', 'pod', 'a', '--subresource=status', '--type=merge', '-p', status]);
    await watch.prints(/a +0\/1 +Running/);
    await kubectl.says(['delete', 'pod', 'a', '--now', '--wait=false']);
    await watch.prints(/a +0\/1 +Terminating/);
    const { stdout } = await watch.stop();
    expect(stdout.split('\n')[0]).toMatch(/^NAME +READY +STATUS +RESTARTS +AGE$/);
  });

  promise('get all: everything in the category', async (kubectl) => {
    await kubectl.says(['apply', '-f', kubectl.file('all.yaml', deployment('web'), service('web'), pod('p'))]);
    const names = (await kubectl.says(['get', 'all', '-o', 'name'])).trim().split('\n');
    expect(names).toEqual(['pod/p', 'service/web', 'deployment.apps/web']);
  });

  promise('get: what is missing, and what no server has', async (kubectl) => {
    expect(await kubectl.complains(['get', 'pod', 'none'])).toBe(
      'Error from server (NotFound): pods "none" not found\n',
    );
    expect(await kubectl.complains(['get', 'nonsense'])).toBe(
      'error: the server doesn\'t have a resource type "nonsense"\n',
    );
  });

  promise('describe pod', async (kubectl) => {
    await kubectl.says(['create', '-f', kubectl.file('p.yaml', labelled('a', 'one'))]);
    const text = await kubectl.says(['describe', 'pod', 'a']);
    expect(text).toMatch(/^Name: +a$/m);
    expect(text).toMatch(/^Node: +n1\/$/m);
    expect(text).toMatch(/^Labels: +tier=one$/m);
    expect(text).toMatch(/^Status: +Pending$/m);
    expect(text).toMatch(/^ {4}Image: +example.com\/main:1$/m);
    expect(text).toMatch(/^QoS Class: +BestEffort$/m);
    expect(text).toMatch(/^Events: +<none>$/m);
  });

  promise('describe deployment', async (kubectl) => {
    await kubectl.says(['apply', '-f', kubectl.file('web.yaml', deployment('web', { replicas: 2 }))]);
    const text = await kubectl.says(['describe', 'deployment', 'web']);
    expect(text).toMatch(/^Selector: +app=web$/m);
    expect(text).toMatch(/^Replicas: +2 desired \| 0 updated \| 0 total \| 0 available \| 0 unavailable$/m);
    expect(text).toMatch(/^StrategyType: +RollingUpdate$/m);
    expect(text).toMatch(/^RollingUpdateStrategy: +25% max unavailable, 25% max surge$/m);
  });

  promise('describe shows the events of an object', async (kubectl) => {
    await kubectl.says(['create', '-f', kubectl.file('p.yaml', labelled('a', 'one'))]);
    const uid = await kubectl.says(['get', 'pod', 'a', '-o', 'jsonpath={.metadata.uid}']);
    const event = {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: 'a.1' },
      involvedObject: { apiVersion: 'v1', kind: 'Pod', name: 'a', namespace: kubectl.namespace, uid },
      type: 'Warning',
      reason: 'BackOff',
      message: 'Back-off restarting',
      source: { component: 'kubelet' },
      count: 1,
      firstTimestamp: '2026-01-01T00:00:00Z',
      lastTimestamp: '2026-01-01T00:00:00Z',
    };
    await kubectl.creates(event);
    expect(await kubectl.says(['describe', 'pod', 'a'])).toMatch(/Warning +BackOff +\S+ +kubelet +Back-off restarting/);
    expect((await kubectl.rows(['get', 'events', '--no-headers']))[0]?.slice(1)).toEqual([
      'Warning',
      'BackOff',
      'pod/a',
      'Back-off restarting',
    ]);
    expect(await kubectl.says(['events', '--for', 'pod/a'])).toContain('Back-off restarting');
  });

  promise('custom resources: columns, wide, describe, short name, patch, apply, delete', async (kubectl) => {
    const { name } = await widgets(kubectl);
    const [head, row] = await kubectl.rows(['get', name]);
    expect(head).toEqual(['NAME', 'SIZE', 'AGE']);
    expect(row?.slice(0, 2)).toEqual(['a', '3']);
    expect((await kubectl.rows(['get', name, '-o', 'wide']))[0]).toEqual(['NAME', 'SIZE', 'AGE', 'MODE']);
    expect(await kubectl.says(['get', `w${kubectl.namespace.slice(-8)}`, '-o', 'name'])).toBe(
      `widget.${kubectl.namespace}.example.com/a\n`,
    );
    const text = await kubectl.says(['describe', name, 'a']);
    expect(text).toMatch(/^Kind: +Widget$/m);
    expect(text).toMatch(/^Spec:\n {2}Nested:\n {4}Mode: +fast\n {2}Size: +3$/m);
    await kubectl.says(['patch', name, 'a', '--type=merge', '-p', '{"spec":{"size":5}}']);
    expect(await kubectl.says(['get', name, 'a', '-o', 'jsonpath={.spec.size}'])).toBe('5');
    expect(await kubectl.complains(['patch', name, 'a', '--type=merge', '-p', '{"spec":{"size":"big"}}'])).toContain(
      'spec.size: Invalid value: "string": spec.size in body must be of type integer: "string"',
    );
    const stdin = (await kubectl.says(['get', name, '-o', 'yaml'])).replace('size: 5', 'size: 7');
    const applied = await kubectl.says(['apply', '-f', '-'], { stdin });
    expect(applied).toBe(`widget.${kubectl.namespace}.example.com/a configured\n`);
    expect(await kubectl.says(['get', name, 'a', '-o', 'jsonpath={.spec.size}'])).toBe('7');
    expect(await kubectl.says(['delete', name, 'a'])).toContain('deleted');
  });

  promise('explain: a field, a kind, everything below it', async (kubectl) => {
    const field = await kubectl.says(['explain', 'deployment.spec.replicas']);
    expect(field).toMatch(/^GROUP: +apps\nKIND: +Deployment\nVERSION: +v1\n\nFIELD: replicas <integer>\n/);
    expect(field).toContain('Number of desired pods.');
    const kind = await kubectl.says(['explain', 'configmap']);
    expect(kind).toMatch(/^KIND: +ConfigMap\nVERSION: +v1\n/);
    expect(kind).toMatch(/^ {2}data\t<map\[string\]string>$/m);
    const all = await kubectl.says(['explain', 'pod.spec.containers', '--recursive']);
    expect(all).toMatch(/^FIELD: containers <\[\]Container>$/m);
    expect(all).toMatch(/^ {2}livenessProbe\t<Probe>\n {4}exec\t<ExecAction>$/m);
    expect(await kubectl.complains(['explain', 'pod.spec.nonsense'])).toContain('field "nonsense" does not exist');
  });

  promise('explain: a custom resource', async (kubectl) => {
    const { name } = await widgets(kubectl);
    const deadline = performance.now() + 20_000;
    // The documents of a new kind come a little later than the kind itself.
    let text = '';
    while (!text.includes('How big it is.') && performance.now() < deadline) {
      text = (await kubectl.run(['explain', `${name}.spec`, '--recursive=false'])).stdout;
    }
    expect(text).toMatch(/^KIND: +Widget$/m);
    expect(text).toMatch(/What is wanted\./);
    expect(text).toMatch(/^ {2}size\t<integer>\n {4}How big it is\.$/m);
    expect(await kubectl.says(['explain', `${name}.spec`, '--recursive'])).toMatch(
      /^ {2}nested\t<Object>\n {4}mode\t<string>\n {4}enum: fast, safe$/m,
    );
  });

  promise('api-resources and api-versions', async (kubectl) => {
    const resources = await kubectl.rows(['api-resources']);
    expect(resources[0]).toEqual(['NAME', 'SHORTNAMES', 'APIVERSION', 'NAMESPACED', 'KIND']);
    expect(resources).toContainEqual(['pods', 'po', 'v1', 'true', 'Pod']);
    expect(resources).toContainEqual(['deployments', 'deploy', 'apps/v1', 'true', 'Deployment']);
    expect(resources).toContainEqual(['namespaces', 'ns', 'v1', 'false', 'Namespace']);
    expect(resources).toContainEqual([
      'customresourcedefinitions',
      'crd,crds',
      'apiextensions.k8s.io/v1',
      'false',
      'CustomResourceDefinition',
    ]);
    const versions = (await kubectl.says(['api-versions'])).trim().split('\n');
    expect(versions).toEqual(expect.arrayContaining(['apps/v1', 'batch/v1', 'v1', 'coordination.k8s.io/v1']));
    expect(await kubectl.says(['api-resources', '--namespaced=false', '--api-group=', '-o', 'name'])).toMatch(
      /^nodes$/m,
    );
  });

  promise('logs: of a pod without a node are empty, of a missing pod an error', async (kubectl) => {
    await kubectl.says(['run', 'p', '--image=example.com/p:1']);
    expect(await kubectl.says(['logs', 'p'])).toBe('');
    expect(await kubectl.complains(['logs', 'none'])).toContain('pods "none" not found');
    expect(await kubectl.complains(['logs', 'p', '-c', 'other'])).toContain('container other is not valid for pod p');
  });

  promise('auth can-i, auth whoami', async (kubectl) => {
    expect(await kubectl.says(['auth', 'can-i', 'create', 'pods'])).toBe('yes\n');
    expect(await kubectl.says(['auth', 'can-i', '--list'])).toContain('*.*');
    expect(await kubectl.says(['auth', 'whoami', '-o', 'jsonpath={.status.userInfo.groups}'])).toContain(
      'system:authenticated',
    );
  });

  promise('version, cluster-info, config view', async (kubectl) => {
    expect(await kubectl.says(['version'])).toMatch(/^Client Version: v1.*\n(?:.*\n)*Server Version: v1\.\d+\.\d+/);
    expect(await kubectl.says(['cluster-info'])).toMatch(/control plane.* is running at .*https:\/\/127\.0\.0\.1:\d+/);
    expect(await kubectl.says(['config', 'view', '--minify'])).toMatch(/server: https:\/\/127\.0\.0\.1:\d+/);
  });

  promise('get --raw', async (kubectl) => {
    expect(await kubectl.says(['get', '--raw', '/readyz'])).toBe('ok');
    expect(await kubectl.complains(['get', '--raw', '/nope'])).toContain(
      'the server could not find the requested resource',
    );
  });
});
