/**
 * The operator as its users have it: a process of its own beside a cluster, of which nothing is known but what the API tells.
 * The same promises for every cluster.
 */
import { Deployment, EventsV1Event, Lease, type Pod, Secret, ValidatingWebhookConfiguration } from '@polder/kube';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ClusterUnderTest } from '../../../../tools/blackbox/clusters.ts';
import { drift, leavesOf, other, valueAt } from '../../../../tools/blackbox/fields.ts';
import { freePorts } from '../../../../tools/free-ports.ts';
import { DataFlow } from '../../src/index.ts';
import { planFlow } from '../../src/plan/index.ts';
import { kindOf } from '../kinds.ts';
import { NOW, observed, secretsOf } from '../states.ts';
import { kafkaFlow, PASSWORD, polledFlow, settings } from '../world.ts';
import { FlowPlace } from './place.ts';

const LEASE = 'dataflow-operator.dataflow.io';

/** The schema has nothing against it; the engine has. */
const BAD = kafkaFlow({ transformations: [{ type: 'filter', config: {} }] });
const OBJECTION = 'spec.transformations[0].config.condition: Required value: condition is required';

const hashOf = ({ metadata }: Pod) => metadata.annotations?.['dataflow.dataflow.io/hash'];
const imageOf = ({ spec }: Pod) => spec?.containers[0]?.image;

export function runBlackbox(server: string, start: () => Promise<ClusterUnderTest>): void {
  describe(`the operator on the ${server} cluster`, () => {
    let cluster: ClusterUnderTest;
    const started = Date.now().toString(36);
    const open = (name: string) => FlowPlace.open(cluster, `blackbox-${name}-${started}`);

    beforeAll(async () => {
      cluster = await start();
    });
    afterAll(() => cluster.stop());

    describe('alone', () => {
      let place: FlowPlace;
      beforeAll(async () => {
        place = await open('alone');
        await place.operator();
        await place.putSecret('postgres://one');
      });
      afterAll(() => place[Symbol.asyncDispose]());

      test('makes of a DataFlow a processor, and of a changed one another', async () => {
        await place.apply('changed', polledFlow());
        expect((await place.settled('changed')).status).toMatchObject({
          phase: 'Running',
          message: 'Processor pod is running',
        });
        const before = await place.onePodOf('changed');
        expect(await place.objectsOf('changed')).toEqual([
          'ConfigMap/dataflow-changed-spec',
          'ConfigMap/df-changed-checkpoint',
          'Deployment/dataflow-changed',
          `Pod/${before.metadata.name}`,
          expect.stringMatching(/^ReplicaSet\/dataflow-changed-/),
          'Role/df-changed-processor',
          'RoleBinding/df-changed-processor',
          'Secret/dataflow-changed-secrets',
          'ServiceAccount/df-changed-processor',
        ]);
        await place.apply('changed', polledFlow({ channelBufferSize: 7 }));
        await place.settled('changed');
        expect(hashOf(await place.onePodOf('changed', before))).not.toBe(hashOf(before));
        await place.settles(async () => {
          const { items } = await place.client.list(EventsV1Event, { namespace: place.namespace });
          const told = items.filter(({ regarding }) => regarding?.kind === 'DataFlow' && regarding.name === 'changed');
          expect(told.map(({ reason }) => reason)).toContain('DeploymentUpdated');
        });
      });

      test('takes all of it away with the DataFlow', async () => {
        await place.apply('deleted', polledFlow());
        await place.settled('deleted');
        await place.client.delete(DataFlow, place.at('deleted'));
        await place.settles(async () => expect(await place.objectsOf('deleted')).toEqual([]));
        expect(await place.client.get(Secret, place.at(PASSWORD.name))).toBeDefined();
      });

      test('starts another processor when a Secret is rotated', async () => {
        await place.apply('rotated', polledFlow());
        await place.settled('rotated');
        const before = await place.onePodOf('rotated');
        await place.putSecret('postgres://two');
        const after = await place.onePodOf('rotated', before);
        expect(hashOf(after)).not.toBe(hashOf(before));
        const { data } = await place.client.get(Secret, place.at('dataflow-rotated-secrets'));
        expect(Buffer.from(data?.['secrets.json'] ?? '', 'base64').toString()).toContain('postgres://two');
      });

      test('stops all processors of a source before one polls another, in the middle of a rollout too', async () => {
        await place.apply('turned', kafkaFlow({ replicas: 3 }));
        await place.settles(async () => expect((await place.podsOf('turned')).length).toBeGreaterThan(0));
        await place.apply('turned', kafkaFlow({ replicas: 3, channelBufferSize: 7 }));
        // Two templates at once: to be told Recreate now, and another number of replicas, is more than a Deployment can take.
        const templates = async () => new Set((await place.podsOf('turned')).map(hashOf));
        await place.settles(async () => expect((await templates()).size).toBeGreaterThan(1));
        await place.apply('turned', polledFlow());
        await place.settled('turned');
        await place.onePodOf('turned');
      });

      test('runs nothing of a spec that got past the door, says what is wrong, and runs it once it is right', async () => {
        await place.apply('wrong', BAD);
        const { status } = await place.settles(async () => {
          const flow = await place.client.get(DataFlow, place.at('wrong'));
          expect(flow.status?.phase).toBe('Error');
          return flow;
        });
        expect(status?.message).toContain(OBJECTION);
        const stalled = status?.conditions?.find(({ type }) => type === 'Stalled');
        expect(stalled).toMatchObject({ status: 'True', message: expect.stringContaining(OBJECTION) });
        expect(await place.objectsOf('wrong')).toEqual([]);
        await place.apply('wrong', kafkaFlow());
        await place.settled('wrong');
      });

      describe.each([
        ['with secrets and a checkpoint', 'polled', polledFlow({ replicas: 0 })],
        ['with replicas', 'shared', kafkaFlow({ replicas: 2, maintenance: { suspended: true } })],
      ])('makes sure of a flow %s', (_what, name, spec) => {
        /** What the operator wants there to be. The flow is stopped: each change of a pod would be a rollout. */
        const objects = async () => {
          await place.apply(name, spec);
          const flow = await place.settled(name);
          const secrets = secretsOf(await place.client.get(Secret, place.at(PASSWORD.name)));
          const image = { known: true, value: 'example.com/processor:1' } as const;
          const plan = planFlow(flow, observed({ secrets, image }), NOW, settings);
          return plan.objects.map((object) => ({ kind: kindOf(object), object }));
        };

        test('that every field of every object is as it should be, whoever changes it', async () => {
          let reverted = 0;
          for (const { kind, object } of await objects()) {
            for (const { pointer, value } of leavesOf(object)) {
              const before = valueAt(await place.client.get(kind, object.metadata), pointer);
              const change = { op: 'replace', path: pointer, value: other(value) } as const;
              if (!(await drift(place.client, kind, object, change))) continue;
              await place.settles(async () => {
                const now = valueAt(await place.client.get(kind, object.metadata), pointer);
                expect(now, `${pointer} of ${object.kind} ${object.metadata.name}`).toEqual(before);
              });
              reverted++;
            }
          }
          console.log(`${reverted} fields changed and reverted`);
          expect(reverted).toBeGreaterThan(40);
        });

        test('that every object is there, whoever deletes it', async () => {
          for (const { kind, object } of await objects()) {
            const { metadata } = await place.client.get(kind, object.metadata);
            await place.client.delete(kind, object.metadata);
            await place.settles(async () => {
              expect((await place.client.get(kind, object.metadata)).metadata.uid).not.toBe(metadata.uid);
            });
          }
          await place.settled(name);
        });
      });
    });

    test('gives every processor its own new image', async () => {
      await using place = await open('image');
      await place.putDeployment('polder', 'example.com/polder:1');
      await place.operator({ OPERATOR_DEPLOYMENT_NAME: 'polder' });
      const names = ['first', 'second'];
      for (const name of names) await place.apply(name, kafkaFlow());
      const images = () => Promise.all(names.map(async (name) => (await place.podsOf(name)).map(imageOf)));
      await place.settles(async () => expect(await images()).toEqual(names.map(() => ['example.com/polder:1'])));
      await place.putDeployment('polder', 'example.com/polder:2');
      await place.settles(async () => expect(await images()).toEqual(names.map(() => ['example.com/polder:2'])));
      for (const name of names) await place.settled(name);
    });

    test('refuses a bad spec before it is stored, with what is wrong with it, if it is asked', async () => {
      await using place = await open('webhook');
      const [port = 0] = await freePorts(1);
      const where = ['--webhook', `https://127.0.0.1:${port}`, '--webhook-bind-address', `127.0.0.1:${port}`];
      await place.operator({ PROCESSOR_IMAGE: 'example.com/processor:1' }, ...where);
      try {
        // Until the server has taken in whom to ask, it asks nobody.
        const refused = await place.settles(() =>
          place.client.create(DataFlow, { metadata: place.at('bad'), spec: BAD }, { dryRun: true }).then(
            () => {
              throw new Error('it was not refused');
            },
            (error: unknown) => String(error),
          ),
        );
        expect(refused).toContain('admission webhook "vdataflow.dataflow.dataflow.io" denied the request');
        expect(refused).toContain(OBJECTION);
        await place.apply('good', kafkaFlow());
        await place.settled('good');
        await expect(place.apply('good', BAD)).rejects.toThrow(OBJECTION);
      } finally {
        await place.client.delete(ValidatingWebhookConfiguration, { name: LEASE });
      }
    });

    describe('as one of two', () => {
      const COUNT = 30;
      const names = Array.from({ length: COUNT }, (_, at) => `flow-${at}`);

      test('waits while the other leads, finishes what that one was killed at, and gives the lease back', async () => {
        await using place = await open('two');
        const holder = async () => (await place.client.get(Lease, place.at(LEASE))).spec?.holderIdentity ?? '';
        const first = await place.operator();
        const leader = await place.settles(async () => {
          const name = await holder();
          expect(name).not.toBe('');
          return name;
        });
        const second = await place.operator();
        const made = async () => (await place.client.list(Deployment, { namespace: place.namespace })).items.length;
        const applying = (async () => {
          for (const name of names) await place.apply(name, kafkaFlow());
        })();
        // They keep coming: whenever it is killed now, it is at work.
        await place.settles(async () => expect(await made()).toBeGreaterThan(2));
        expect(await holder()).toBe(leader);
        expect(await first.end('SIGKILL')).toBeNull();
        expect(await made()).toBeLessThan(COUNT);
        await applying;
        for (const name of names) await place.settled(name);
        expect(await holder()).not.toBe(leader);
        expect(await second.end('SIGTERM')).toBe(0);
        expect(await holder()).toBe('');
      });
    });
  });
}
