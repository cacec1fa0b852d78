import { execFile } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ControlPlane, startControlPlane } from './start.ts';

const run = promisify(execFile);

describe('a real control plane', () => {
  let controlPlane: ControlPlane;

  beforeAll(async () => {
    const dir = mkdtempSync(join(tmpdir(), 'polder-control-plane-'));
    controlPlane = await startControlPlane({ dir, controllers: true });
  });

  afterAll(async () => {
    await controlPlane.stop();
  });

  const kubectl = async (...args: readonly string[]) => {
    const { stdout } = await run(controlPlane.bin('kubectl'), ['--kubeconfig', controlPlane.kubeconfig, ...args]);
    return stdout;
  };

  it('with controllers makes the pods of a Deployment', async () => {
    await kubectl('create', 'deployment', 'web', '--image', 'example.com/web:1', '--replicas', '2');
    await kubectl('wait', 'deployment/web', '--for=jsonpath={.status.replicas}=2', '--timeout=30s');
    expect((await kubectl('get', 'pods', '-l', 'app=web', '-o', 'name')).trim().split('\n')).toHaveLength(2);
  });

  it('keeps what it stored when its API server dies and comes back on the same port', async () => {
    await kubectl('create', 'configmap', 'kept', '--from-literal=k=v');
    await controlPlane.kill();
    await expect(kubectl('get', 'configmap', 'kept')).rejects.toThrow(/refused|did you specify/);
    await controlPlane.restart();
    expect(await kubectl('get', 'configmap', 'kept', '-o', 'jsonpath={.data.k}')).toBe('v');
  });
});
