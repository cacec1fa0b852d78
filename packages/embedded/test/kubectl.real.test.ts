import { describe, inject, it } from 'vitest';
import { Kubectl } from './kubectl/kubectl.ts';
import { reading } from './kubectl/reading.ts';
import { writing } from './kubectl/writing.ts';

describe('kubectl on the real server', () => {
  for (const { promise, keeps } of [...writing, ...reading]) {
    const declare = it;
    declare(promise, async () => {
      await using kubectl = await Kubectl.open(inject('kubectl'), inject('kubeconfig'));
      await keeps(kubectl);
    });
  }
});
