import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { configMap, deployment } from '../contract/objects.ts';
import { cases, expect } from './cases.ts';

const APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

const labelled = (name: string) => configMap(name, { k: name }, { labels: { tier: 'x' } });

export const writing = cases((promise) => {
  promise('apply: created, then unchanged, then configured', async (kubectl) => {
    const file = kubectl.file('web.yaml', deployment('web', { replicas: 2 }));
    expect(await kubectl.says(['apply', '-f', file])).toBe('deployment.apps/web created\n');
    expect(await kubectl.says(['apply', '-f', file])).toBe('deployment.apps/web unchanged\n');
    const changed = kubectl.file('web.yaml', deployment('web', { replicas: 3 }));
    expect(await kubectl.says(['apply', '-f', changed])).toBe('deployment.apps/web configured\n');
    expect(await kubectl.says(['get', 'deployment', 'web', '-o', 'jsonpath={.spec.replicas}'])).toBe('3');
  });

  promise('apply: removes what the file no longer has, keeps what others added', async (kubectl) => {
    const file = kubectl.file('a.yaml', configMap('a', { kept: '1', left: '2' }));
    await kubectl.says(['apply', '-f', file]);
    await kubectl.says(['patch', 'configmap', 'a', '--type=merge', '-p', '{"data":{"foreign":"3"}}']);
    await kubectl.says(['apply', '-f', kubectl.file('a.yaml', configMap('a', { kept: '1' }))]);
    const { data }: { data: unknown } = JSON.parse(await kubectl.says(['get', 'configmap', 'a', '-o', 'json']));
    expect(data).toEqual({ kept: '1', foreign: '3' });
  });

  promise('apply: several objects of several kinds at once', async (kubectl) => {
    const file = kubectl.file('all.yaml', configMap('a', { k: 'v' }), deployment('web'));
    expect(await kubectl.says(['apply', '-f', file])).toBe('configmap/a created\ndeployment.apps/web created\n');
  });

  promise('apply: a List, such as get prints', async (kubectl) => {
    const list = { apiVersion: 'v1', kind: 'List', items: [configMap('a', { k: 'v' }), configMap('b', { k: 'v' })] };
    const file = kubectl.file('list.yaml', list);
    expect(await kubectl.says(['apply', '-f', file])).toBe('configmap/a created\nconfigmap/b created\n');
    const stdin = await kubectl.says(['get', 'configmap/a', 'configmap/b', '-o', 'yaml']);
    expect(stdin).toMatch(/^kind: List$/m);
    expect(await kubectl.says(['apply', '-f', '-'], { stdin })).toBe(
      'configmap/a configured\nconfigmap/b configured\n',
    );
  });

  // kubectl checks the members of a List itself, by the OpenAPI v2 document that it asks for in protobuf.
  promise('apply: refuses a List for a field that does not exist in one of its members', async (kubectl) => {
    const items = [configMap('a', { k: 'v' }), deployment('web', { replcas: 2, replicas: 'two' })];
    const file = kubectl.file('list.yaml', { apiVersion: 'v1', kind: 'List', items });
    const refused = await kubectl.complains(['apply', '-f', file]);
    expect(refused).toContain(
      'ValidationError(Deployment.spec): unknown field "replcas" in io.k8s.api.apps.v1.DeploymentSpec',
    );
    expect(refused).toContain(
      'invalid type for io.k8s.api.apps.v1.DeploymentSpec.replicas: got "string", expected "integer"',
    );
    expect(await kubectl.complains(['get', 'configmap', 'a'])).toContain('not found');
  });

  promise('apply: refuses a field that does not exist, before anything is written', async (kubectl) => {
    const file = kubectl.file('web.yaml', deployment('web', { replcas: 2 }));
    expect(await kubectl.complains(['apply', '-f', file])).toContain('unknown field "spec.replcas"');
    expect(await kubectl.complains(['get', 'deployment', 'web'])).toContain('not found');
  });

  promise('apply --server-side: applied, in conflict, forced', async (kubectl) => {
    const file = kubectl.file('a.yaml', configMap('a', { k: '1' }));
    const apply = ['apply', '--server-side', '-f'];
    expect(await kubectl.says([...apply, file])).toBe('configmap/a serverside-applied\n');
    const other = kubectl.file('other.yaml', configMap('a', { k: '2' }));
    const refused = await kubectl.complains([...apply, other, '--field-manager=other']);
    expect(refused).toContain('Apply failed with 1 conflict: conflict with "kubectl": .data.k');
    expect(refused).toContain('--force-conflicts');
    const forced = [...apply, other, '--field-manager=other', '--force-conflicts'];
    expect(await kubectl.says(forced)).toBe('configmap/a serverside-applied\n');
    expect(await kubectl.says(['get', 'configmap', 'a', '-o', 'jsonpath={.data.k}'])).toBe('2');
  });

  promise('apply --server-side: takes over what plain apply wrote', async (kubectl) => {
    const file = kubectl.file('a.yaml', configMap('a', { k: '1' }));
    await kubectl.says(['apply', '-f', file]);
    expect(await kubectl.says(['apply', '--server-side', '-f', file])).toBe('configmap/a serverside-applied\n');
    const managers = [
      'get',
      'configmap',
      'a',
      '--show-managed-fields',
      '-o',
      'jsonpath={.metadata.managedFields[*].operation}',
    ];
    expect(await kubectl.says(managers)).toContain('Apply');
  });

  promise('apply --dry-run=server: says so and stores nothing', async (kubectl) => {
    const file = kubectl.file('a.yaml', configMap('a', { k: '1' }));
    expect(await kubectl.says(['apply', '--dry-run=server', '-f', file])).toBe(
      'configmap/a created (server dry run)\n',
    );
    expect(await kubectl.complains(['get', 'configmap', 'a'])).toBe(
      'Error from server (NotFound): configmaps "a" not found\n',
    );
  });

  promise('create: from flags, and refused the second time', async (kubectl) => {
    const create = ['create', 'configmap', 'a', '--from-literal=k=v'];
    expect(await kubectl.says(create)).toBe('configmap/a created\n');
    expect(await kubectl.complains(create)).toBe('error: failed to create configmap: configmaps "a" already exists\n');
    expect(await kubectl.says(['create', 'deployment', 'web', '--image=example.com/web:1'])).toBe(
      'deployment.apps/web created\n',
    );
    expect(await kubectl.says(['create', 'secret', 'generic', 's', '--from-literal=k=v'])).toBe('secret/s created\n');
    expect(await kubectl.says(['run', 'p', '--image=example.com/p:1'])).toBe('pod/p created\n');
    expect(await kubectl.says(['expose', 'deployment', 'web', '--port=80'])).toBe('service/web exposed\n');
    expect(await kubectl.says(['create', 'job', 'j', '--image=example.com/j:1'])).toBe('job.batch/j created\n');
  });

  promise('create: shows why an object is invalid', async (kubectl) => {
    const file = kubectl.file('web.yaml', deployment('web', { replicas: -1 }));
    expect(await kubectl.complains(['create', '-f', file])).toBe(
      'The Deployment "web" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0\n',
    );
  });

  for (const [type, body] of [
    ['strategic', '{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"example.com/main:2"}]}}}}'],
    ['merge', '{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"example.com/main:2"}]}}}}'],
    ['json', '[{"op":"replace","path":"/spec/template/spec/containers/0/image","value":"example.com/main:2"}]'],
  ] as const) {
    promise(`patch --type=${type}`, async (kubectl) => {
      await kubectl.says(['apply', '-f', kubectl.file('web.yaml', deployment('web'))]);
      const patch = ['patch', 'deployment', 'web', `--type=${type}`, '-p', body];
      expect(await kubectl.says(patch)).toBe('deployment.apps/web patched\n');
      expect(await kubectl.says(patch)).toBe('deployment.apps/web patched (no change)\n');
      const image = 'jsonpath={.spec.template.spec.containers[0].image}';
      expect(await kubectl.says(['get', 'deployment', 'web', '-o', image])).toBe('example.com/main:2');
    });
  }

  promise('label and annotate: set, refuse to overwrite, remove', async (kubectl) => {
    await kubectl.creates(configMap('a'));
    expect(await kubectl.says(['label', 'configmap', 'a', 'tier=one'])).toBe('configmap/a labeled\n');
    expect(await kubectl.complains(['label', 'configmap', 'a', 'tier=two'])).toContain(
      "'tier' already has a value (one), and --overwrite is false",
    );
    expect(await kubectl.says(['label', 'configmap', 'a', 'tier-'])).toBe('configmap/a unlabeled\n');
    expect(await kubectl.says(['annotate', 'configmap', 'a', 'note=hello'])).toBe('configmap/a annotated\n');
    expect(await kubectl.says(['get', 'configmap', 'a', '-o', 'jsonpath={.metadata.annotations.note}'])).toBe('hello');
  });

  promise('scale: sets the replicas, and only from the number that is expected', async (kubectl) => {
    await kubectl.creates(deployment('web'));
    expect(await kubectl.says(['scale', 'deployment', 'web', '--replicas=4'])).toBe('deployment.apps/web scaled\n');
    expect(await kubectl.says(['get', 'deployment', 'web', '-o', 'jsonpath={.spec.replicas}'])).toBe('4');
    expect(await kubectl.complains(['scale', 'deployment', 'web', '--current-replicas=1', '--replicas=5'])).toContain(
      'Expected replicas to be 1, was 4',
    );
  });

  promise('set image and rollout restart: change the template', async (kubectl) => {
    await kubectl.creates(deployment('web'));
    expect(await kubectl.says(['set', 'image', 'deployment/web', 'main=example.com/web:2'])).toBe(
      'deployment.apps/web image updated\n',
    );
    expect(await kubectl.says(['rollout', 'restart', 'deployment/web'])).toBe('deployment.apps/web restarted\n');
    const annotations = 'jsonpath={.spec.template.metadata.annotations}';
    expect(await kubectl.says(['get', 'deployment', 'web', '-o', annotations])).toContain(
      'kubectl.kubernetes.io/restartedAt',
    );
  });

  promise('rollout status: waits until all replicas are updated and available', async (kubectl) => {
    await kubectl.creates(deployment('web', { replicas: 2 }));
    const rollout = kubectl.start(['rollout', 'status', 'deployment/web', '--timeout=30s']);
    await rollout.prints(/Waiting for deployment spec update to be observed/);
    const report = async (ready: number) => {
      const status = {
        observedGeneration: 1,
        replicas: 2,
        updatedReplicas: 2,
        readyReplicas: ready,
        availableReplicas: ready,
      };
      const patch = JSON.stringify({ status });
      await kubectl.says(['patch', 'deployment', 'web', '--subresource=status', '--type=merge', '-p', patch]);
    };
    await report(1);
    await rollout.prints(/1 of 2 updated replicas are available/);
    await report(2);
    const { code, stdout } = await rollout.ended;
    expect(code).toBe(0);
    expect(stdout).toMatch(/deployment "web" successfully rolled out\n$/);
  });

  promise('edit: writes back what the editor left', async (kubectl) => {
    await kubectl.creates(configMap('a', { k: 'before' }));
    const editor = join(kubectl.home, 'editor.sh');
    writeFileSync(editor, '#!/bin/sh\nsed -i s/before/after/ "$1"\n', { mode: 0o755 });
    const edit = () => kubectl.says(['edit', 'configmap', 'a'], { env: { KUBE_EDITOR: editor } });
    expect(await edit()).toBe('configmap/a edited\n');
    expect(await kubectl.says(['get', 'configmap', 'a', '-o', 'jsonpath={.data.k}'])).toBe('after');
  });

  promise('replace: the whole object, refused at a stale version', async (kubectl) => {
    await kubectl.creates(configMap('a', { k: '1' }));
    const read = await kubectl.says(['get', 'configmap', 'a', '-o', 'json']);
    const replace = (value: string) =>
      kubectl.run(['replace', '-f', '-'], { stdin: read.replace('"k": "1"', `"k": "${value}"`) });
    expect((await replace('2')).stdout).toBe('configmap/a replaced\n');
    const stale = await replace('3');
    expect(stale.code).toBe(1);
    expect(stale.stderr).toContain('the object has been modified; please apply your changes to the latest version');
  });

  promise('diff: shows what apply would change, and changes nothing', async (kubectl) => {
    await kubectl.says(['apply', '-f', kubectl.file('web.yaml', deployment('web', { replicas: 2 }))]);
    const same = await kubectl.run(['diff', '-f', kubectl.file('web.yaml', deployment('web', { replicas: 2 }))]);
    expect(same).toMatchObject({ code: 0, stdout: '' });
    const changed = await kubectl.run(['diff', '-f', kubectl.file('web.yaml', deployment('web', { replicas: 3 }))]);
    expect(changed.code).toBe(1);
    expect(changed.stdout).toMatch(/-\s+replicas: 2\n\+\s+replicas: 3\n/);
    expect(await kubectl.says(['get', 'deployment', 'web', '-o', 'jsonpath={.spec.replicas}'])).toBe('2');
  });

  promise('delete --wait: returns when the finalizer has been released', async (kubectl) => {
    const held = configMap('a', { k: 'v' }, { finalizers: ['example.com/hold'] });
    await kubectl.says(['apply', '-f', kubectl.file('a.yaml', held)]);
    const deletion = kubectl.start(['delete', 'configmap', 'a', '--wait', '--timeout=30s']);
    await deletion.prints(/configmap "a" deleted/);
    expect(await kubectl.says(['get', 'configmap', 'a', '-o', 'jsonpath={.metadata.deletionTimestamp}'])).not.toBe('');
    await kubectl.says(['patch', 'configmap', 'a', '--type=merge', '-p', '{"metadata":{"finalizers":null}}']);
    expect((await deletion.ended).code).toBe(0);
    expect(await kubectl.complains(['get', 'configmap', 'a'])).toContain('not found');
  });

  promise('delete: by label, by file, all, and quietly what is missing', async (kubectl) => {
    const file = kubectl.file('two.yaml', labelled('a'), labelled('b'));
    await kubectl.says(['apply', '-f', file]);
    expect(await kubectl.says(['delete', 'configmap', '-l', 'tier=x'])).toMatch(
      /configmap "a" deleted.*\nconfigmap "b" deleted/,
    );
    await kubectl.says(['apply', '-f', file]);
    expect(await kubectl.says(['delete', '-f', file])).toMatch(/configmap "a" deleted/);
    expect(await kubectl.says(['delete', 'configmap', 'a', '--ignore-not-found'])).toBe('');
    expect(await kubectl.complains(['delete', 'configmap', 'a'])).toBe(
      'Error from server (NotFound): configmaps "a" not found\n',
    );
  });

  promise('view and edit the last applied configuration', async (kubectl) => {
    await kubectl.says(['apply', '-f', kubectl.file('a.yaml', configMap('a', { k: 'v' }))]);
    const seen = await kubectl.says(['apply', 'view-last-applied', 'configmap/a', '-o', 'json']);
    expect(JSON.parse(seen)).toMatchObject({ kind: 'ConfigMap', data: { k: 'v' } });
    const whole: { metadata: { annotations: Record<string, string> } } = JSON.parse(
      await kubectl.says(['get', 'configmap', 'a', '-o', 'json']),
    );
    expect(Object.keys(whole.metadata.annotations)).toEqual([APPLIED]);
  });

  promise('wait: for a condition, for a field, for deletion', async (kubectl) => {
    await kubectl.creates(deployment('web'));
    const available = kubectl.start(['wait', '--for=condition=Available', 'deployment/web', '--timeout=30s']);
    const counted = kubectl.start(['wait', '--for=jsonpath={.status.replicas}=1', 'deployment/web', '--timeout=30s']);
    const conditions = [{ type: 'Available', status: 'True' }];
    const status = JSON.stringify({ status: { replicas: 1, conditions } });
    await kubectl.says(['patch', 'deployment', 'web', '--subresource=status', '--type=merge', '-p', status]);
    expect((await available.ended).stdout).toBe('deployment.apps/web condition met\n');
    expect((await counted.ended).stdout).toBe('deployment.apps/web condition met\n');
    const gone = kubectl.start(['wait', '--for=delete', 'deployment/web', '--timeout=30s']);
    await kubectl.says(['delete', 'deployment', 'web', '--cascade=background']);
    expect((await gone.ended).code).toBe(0);
    expect(await kubectl.complains(['wait', '--for=condition=Ready', 'pod/none', '--timeout=1s'])).toContain(
      'not found',
    );
  });
});
