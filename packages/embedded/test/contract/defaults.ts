import {
  claim,
  claims,
  deployment,
  deployments,
  job,
  jobs,
  pod,
  pods,
  service,
  services,
  statefulSet,
  statefulSets,
} from './objects.ts';
import { expect, topic } from './suite.ts';
import { eventually } from './world.ts';

const POD_DEFAULTS = {
  restartPolicy: 'Always',
  terminationGracePeriodSeconds: 30,
  dnsPolicy: 'ClusterFirst',
  securityContext: {},
  schedulerName: 'default-scheduler',
};

const CONTAINER_DEFAULTS = {
  name: 'main',
  image: 'example.com/main:1',
  resources: {},
  terminationMessagePath: '/dev/termination-log',
  terminationMessagePolicy: 'File',
  imagePullPolicy: 'IfNotPresent',
};

export const defaults = topic('defaults', (promise) => {
  promise('of a Pod', async ({ wire, namespace }) => {
    const made = await wire.must(wire.create(pods(await namespace()), pod('a')));
    expect(made.spec).toEqual({
      ...POD_DEFAULTS,
      containers: [CONTAINER_DEFAULTS],
      enableServiceLinks: true,
      preemptionPolicy: 'PreemptLowerPriority',
      priority: 0,
      tolerations: [
        { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
        { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
      ],
    });
    expect(made.status).toEqual({ phase: 'Pending', qosClass: 'BestEffort' });
    expect(made.metadata.generation).toBe(1);
  });

  promise('of a Pod: the priority of its class', async ({ wire, namespace, fresh }) => {
    const priorityClassName = fresh('contract');
    const priorityClass = { metadata: { name: priorityClassName }, value: 7, preemptionPolicy: 'Never' };
    await wire.must(wire.create('/apis/scheduling.k8s.io/v1/priorityclasses', priorityClass));
    const path = pods(await namespace());
    await eventually('the class is known', async () => {
      const answer = await wire.create(`${path}?dryRun=All`, pod('a', { priorityClassName }));
      return answer.status === 201;
    });
    const made = await wire.must(wire.create(path, pod('a', { priorityClassName })));
    expect(made.spec).toMatchObject({ priorityClassName, priority: 7, preemptionPolicy: 'Never' });
    const system = await wire.must(wire.create(path, pod('b', { priorityClassName: 'system-node-critical' })));
    expect(system.spec).toMatchObject({ priority: 2_000_001_000 });
  });

  promise('of a Pod: it takes its priority from a class alone', async ({ wire, namespace }) => {
    const path = pods(await namespace());
    const lost = await wire.create(path, pod('a', { priorityClassName: 'nobody' }));
    expect(lost.status).toBe(403);
    expect(lost.body.message).toBe('pods "a" is forbidden: no PriorityClass with name nobody was found');
    const own = await wire.create(path, pod('a', { priority: 5 }));
    expect(own.status).toBe(403);
    expect(own.body.message).toBe(
      'pods "a" is forbidden: the integer value of priority (5) must not be provided in pod spec; priority admission controller computed 0 from the given PriorityClass name',
    );
  });

  promise('of a container: images without a tag or with latest are always pulled', async ({ wire, namespace }) => {
    const path = pods(await namespace());
    const images = ['example.com/a', 'example.com/a:latest', 'example.com/a:1'];
    const containers = images.map((image, index) => ({ name: `c${index}`, image }));
    const made = await wire.must(wire.create(path, pod('a', { containers })));
    expect(made.spec['containers']).toMatchObject([
      { imagePullPolicy: 'Always' },
      { imagePullPolicy: 'Always' },
      { imagePullPolicy: 'IfNotPresent' },
    ]);
  });

  promise('of requests: the limits; of the QoS class: what follows from both', async ({ wire, namespace }) => {
    const path = pods(await namespace());
    const containers = [{ name: 'main', image: 'example.com/a:1', resources: { limits: { cpu: '1', memory: '1Gi' } } }];
    const made = await wire.must(wire.create(path, pod('a', { containers })));
    expect(made.spec['containers']).toMatchObject([{ resources: { requests: { cpu: '1', memory: '1Gi' } } }]);
    expect(made.status).toMatchObject({ qosClass: 'Guaranteed' });
  });

  promise('of probes', async ({ wire, namespace }) => {
    const path = pods(await namespace());
    const containers = [
      {
        name: 'main',
        image: 'example.com/a:1',
        readinessProbe: { httpGet: { port: 80 } },
        ports: [{ containerPort: 80 }],
      },
    ];
    const made = await wire.must(wire.create(path, pod('a', { containers })));
    expect(made.spec['containers']).toMatchObject([
      {
        ports: [{ containerPort: 80, protocol: 'TCP' }],
        readinessProbe: {
          httpGet: { path: '/', port: 80, scheme: 'HTTP' },
          timeoutSeconds: 1,
          periodSeconds: 10,
          successThreshold: 1,
          failureThreshold: 3,
        },
      },
    ]);
  });

  promise('of volumes', async ({ wire, namespace }) => {
    const path = pods(await namespace());
    const volumes = [
      { name: 'config', configMap: { name: 'c' } },
      { name: 'secret', secret: { secretName: 's' } },
      { name: 'host', hostPath: { path: '/tmp' } },
      { name: 'nothing' },
      { name: 'all', projected: { sources: [{ serviceAccountToken: { path: 'token' } }] } },
    ];
    const made = await wire.must(wire.create(path, pod('a', { volumes, serviceAccountName: 'default' })));
    expect(made.spec['volumes']).toEqual([
      { name: 'config', configMap: { name: 'c', defaultMode: 420 } },
      { name: 'secret', secret: { secretName: 's', defaultMode: 420 } },
      { name: 'host', hostPath: { path: '/tmp', type: '' } },
      { name: 'nothing', emptyDir: {} },
      {
        name: 'all',
        projected: {
          defaultMode: 420,
          sources: [{ serviceAccountToken: { path: 'token', expirationSeconds: 3600 } }],
        },
      },
    ]);
  });

  promise('of a Deployment', async ({ wire, namespace }) => {
    const made = await wire.must(wire.create(deployments(await namespace()), deployment('a')));
    expect(made.spec).toEqual({
      replicas: 1,
      selector: { matchLabels: { app: 'a' } },
      template: {
        metadata: { labels: { app: 'a' } },
        spec: { ...POD_DEFAULTS, containers: [CONTAINER_DEFAULTS] },
      },
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '25%', maxSurge: '25%' } },
      revisionHistoryLimit: 10,
      progressDeadlineSeconds: 600,
    });
  });

  promise('of a StatefulSet', async ({ wire, namespace }) => {
    const { metadata, spec } = claim('data');
    const made = await wire.must(
      wire.create(statefulSets(await namespace()), statefulSet('a', { volumeClaimTemplates: [{ metadata, spec }] })),
    );
    expect(made.spec).toMatchObject({
      replicas: 1,
      podManagementPolicy: 'OrderedReady',
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
      revisionHistoryLimit: 10,
      persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
      volumeClaimTemplates: [
        {
          apiVersion: 'v1',
          kind: 'PersistentVolumeClaim',
          spec: { volumeMode: 'Filesystem' },
          status: { phase: 'Pending' },
        },
      ],
    });
  });

  promise('of a DaemonSet', async ({ wire, namespace }) => {
    const { spec } = deployment('a');
    const made = await wire.must(
      wire.create(`/apis/apps/v1/namespaces/${await namespace()}/daemonsets`, { metadata: { name: 'a' }, spec }),
    );
    expect(made.spec).toMatchObject({
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } },
      revisionHistoryLimit: 10,
    });
  });

  promise('of a ReplicaSet', async ({ wire, namespace }) => {
    const { spec } = deployment('a');
    const made = await wire.must(
      wire.create(`/apis/apps/v1/namespaces/${await namespace()}/replicasets`, { metadata: { name: 'a' }, spec }),
    );
    expect(made.spec).toMatchObject({ replicas: 1 });
    expect(made.status).toEqual({ replicas: 0 });
  });

  promise('of a Service: an address of its own, TCP, the target port being the port', async ({ wire, namespace }) => {
    const made = await wire.must(wire.create(services(await namespace()), service('a')));
    const { clusterIP } = made.spec;
    expect(clusterIP).toMatch(/^\d+\.\d+\.\d+\.\d+$/);
    expect(made.spec).toEqual({
      clusterIP,
      clusterIPs: [clusterIP],
      internalTrafficPolicy: 'Cluster',
      ipFamilies: ['IPv4'],
      ipFamilyPolicy: 'SingleStack',
      ports: [{ port: 80, protocol: 'TCP', targetPort: 80 }],
      selector: { app: 'a' },
      sessionAffinity: 'None',
      type: 'ClusterIP',
    });
    expect(made.status).toEqual({ loadBalancer: {} });
  });

  promise('of a headless Service: no address', async ({ wire, namespace }) => {
    const made = await wire.must(wire.create(services(await namespace()), service('a', { clusterIP: 'None' })));
    expect(made.spec).toMatchObject({ clusterIP: 'None', clusterIPs: ['None'] });
  });

  promise('of a NodePort Service: a port between 30000 and 32767', async ({ wire, namespace }) => {
    const made = await wire.must(wire.create(services(await namespace()), service('a', { type: 'NodePort' })));
    const { ports }: { ports: { nodePort: number }[] } = JSON.parse(JSON.stringify(made.spec));
    expect(ports[0]?.nodePort).toBeGreaterThanOrEqual(30000);
    expect(ports[0]?.nodePort).toBeLessThanOrEqual(32767);
    expect(made.spec).toMatchObject({ externalTrafficPolicy: 'Cluster' });
  });

  promise('of a Job: its own selector and labels, one completion', async ({ wire, namespace }) => {
    const made = await wire.must(wire.create(jobs(await namespace()), job('a')));
    const { uid } = made.metadata;
    const labels = {
      'batch.kubernetes.io/controller-uid': uid,
      'batch.kubernetes.io/job-name': 'a',
      'controller-uid': uid,
      'job-name': 'a',
    };
    expect(made.spec).toMatchObject({
      parallelism: 1,
      completions: 1,
      backoffLimit: 6,
      completionMode: 'NonIndexed',
      suspend: false,
      podReplacementPolicy: 'TerminatingOrFailed',
      selector: { matchLabels: { 'batch.kubernetes.io/controller-uid': uid } },
      template: { metadata: { labels } },
    });
  });

  promise('of a CronJob', async ({ wire, namespace }) => {
    const made = await wire.must(
      wire.create(`/apis/batch/v1/namespaces/${await namespace()}/cronjobs`, {
        metadata: { name: 'a' },
        spec: { schedule: '*/5 * * * *', jobTemplate: { spec: job('a').spec } },
      }),
    );
    expect(made.spec).toMatchObject({
      concurrencyPolicy: 'Allow',
      suspend: false,
      successfulJobsHistoryLimit: 3,
      failedJobsHistoryLimit: 1,
    });
  });

  promise('of a PersistentVolumeClaim: a file system, Pending, protected', async ({ wire, namespace }) => {
    const made = await wire.must(wire.create(claims(await namespace()), claim('a')));
    expect(made.spec).toMatchObject({ volumeMode: 'Filesystem' });
    expect(made.status).toEqual({ phase: 'Pending' });
    expect(made.metadata.finalizers).toEqual(['kubernetes.io/pvc-protection']);
  });

  promise('of a Secret: Opaque, stringData folded into data', async ({ wire, namespace }) => {
    const made = await wire.must(
      wire.create(`/api/v1/namespaces/${await namespace()}/secrets`, {
        metadata: { name: 'a' },
        stringData: { password: 'x' },
      }),
    );
    expect(made).toMatchObject({ type: 'Opaque', data: { password: 'eA==' } });
    expect(made).not.toHaveProperty('stringData');
  });

  promise('apply again on every update', async ({ wire, namespace }) => {
    const path = deployments(await namespace());
    await wire.must(wire.create(path, deployment('a', { replicas: 3 })));
    const body = await wire.must(wire.replace(`${path}/a`, deployment('a')));
    expect(body.spec['replicas']).toBe(1);
  });

  promise('stand in for a field that a patch removes', async ({ wire, namespace }) => {
    const path = deployments(await namespace());
    await wire.must(wire.create(path, deployment('a', { replicas: 3 })));
    const body = await wire.must(wire.patch('merge', `${path}/a`, { spec: { replicas: null } }));
    expect(body.spec['replicas']).toBe(1);
  });
});
