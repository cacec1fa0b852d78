import { createHash } from 'node:crypto';
import type { Container, Deployment, DeploymentStrategy, EnvVar, PodSpec, Volume } from '@polder/kube';
import type { DataFlow } from '../kinds/index.ts';
import { identityOf, namesOf, namespaceOf, selectorOf } from './identity.ts';
import { SPEC_FILE } from './spec-config-map.ts';
import { canonical, readByProcessor } from './spec-files.ts';
import { SECRETS_FILE } from './spec-secret.ts';
import type { Workload } from './workload.ts';

export const PROCESSOR = 'processor';
export const METRICS_PORT = 9090;
const FOLDER = '/etc/dataflow';

/** Over all that a processor works with. What it reads once, at its start, would otherwise change without it. */
export const HASH_ANNOTATION = 'dataflow.dataflow.io/hash';

export function processorDeployment(flow: DataFlow, workload: Workload): Deployment {
  const pod = podOf(flow, workload);
  const hash = createHash('sha256')
    .update(canonical(pod))
    .update(readByProcessor(flow.spec, workload.secrets))
    .digest('hex');
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: identityOf(flow, namesOf(flow).processor),
    spec: {
      replicas: workload.replicas,
      // Enough to see what it was before; each is an object that every operator here caches.
      revisionHistoryLimit: 2,
      selector: { matchLabels: selectorOf(flow) },
      strategy: strategyOf(workload),
      template: { metadata: { labels: selectorOf(flow), annotations: { [HASH_ANNOTATION]: hash } }, spec: pod },
    },
  };
}

/**
 * Two processors of a polled source would both read all of it, and the one that leaves would write its position over that of
 * the one that came. Members of a consumer group share, so one can come before the other goes.
 */
function strategyOf({ spec }: Workload): DeploymentStrategy {
  if (spec.source.type !== 'kafka') return { type: 'Recreate' };
  // The server's own defaults, said aloud: what nobody owns stays behind, and is refused beside Recreate.
  return { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%', maxUnavailable: '25%' } };
}

function podOf(flow: DataFlow, workload: Workload): PodSpec {
  const { spec, isCheckpointed } = workload;
  const { affinity, tolerations, imagePullSecrets } = flow.spec;
  return {
    // Always said: the server keeps a copy under an older name, which would bring back what an apply leaves out.
    serviceAccountName: isCheckpointed ? namesOf(flow).access : 'default',
    // Only who writes checkpoints has business with the API server.
    automountServiceAccountToken: isCheckpointed,
    enableServiceLinks: false,
    securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    terminationGracePeriodSeconds: spec.terminationGracePeriodSeconds,
    ...(spec.nodeSelector && { nodeSelector: spec.nodeSelector }),
    ...(affinity && { affinity }),
    ...(tolerations && { tolerations }),
    ...(imagePullSecrets && { imagePullSecrets }),
    containers: [containerOf(flow, workload)],
    volumes: [filesOf(flow, workload)],
  };
}

function containerOf(flow: DataFlow, workload: Workload): Container {
  const { checkpoint } = namesOf(flow);
  const { limits = {}, requests = {} } = workload.spec.resources;
  return {
    name: PROCESSOR,
    image: workload.image,
    command: ['polder', 'processor'],
    args: [
      `--spec-path=${FOLDER}/${SPEC_FILE}`,
      `--namespace=${namespaceOf(flow)}`,
      `--name=${flow.metadata.name}`,
      // In brackets: it may be of version 6. Not on all addresses: pods that are processes of one machine share its ports.
      `--metrics-bind-address=[$(POD_IP)]:${METRICS_PORT}`,
      ...(workload.isCheckpointed ? [`--checkpoint-configmap=${checkpoint}`] : []),
    ],
    env: environmentOf(workload),
    ports: [{ name: 'metrics', containerPort: METRICS_PORT, protocol: 'TCP' }],
    resources: flow.spec.resources ?? { limits, requests },
    // Sources may be away for long; being started and alive is for the process alone, being ready for its connections, too.
    startupProbe: { ...probe('/livez'), periodSeconds: 2, failureThreshold: 60 },
    livenessProbe: { ...probe('/livez'), periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 3 },
    readinessProbe: { ...probe('/readyz'), periodSeconds: 5, timeoutSeconds: 3, failureThreshold: 3 },
    // The last lines of a processor that failed are what its flow says about it.
    terminationMessagePolicy: 'FallbackToLogsOnError',
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    },
    volumeMounts: [{ name: 'spec', mountPath: FOLDER, readOnly: true }],
  };
}

const probe = (path: string) => ({ httpGet: { path, port: 'metrics' } });

function environmentOf({ logLevel, progressTimeoutSeconds: timeout }: Workload): readonly EnvVar[] {
  return [
    { name: 'LOG_LEVEL', value: logLevel },
    { name: 'POD_IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
    ...(timeout === undefined ? [] : [{ name: 'PROCESSOR_PROGRESS_TIMEOUT_SECONDS', value: String(timeout) }]),
  ];
}

/** Both files side by side, as the processor looks for them. */
function filesOf(flow: DataFlow, { files }: Workload): Volume {
  const names = namesOf(flow);
  return {
    name: 'spec',
    projected: {
      sources: [
        { configMap: { name: names.spec, items: [{ key: SPEC_FILE, path: SPEC_FILE }] } },
        ...(files.secrets === undefined
          ? []
          : [{ secret: { name: names.secrets, items: [{ key: SECRETS_FILE, path: SECRETS_FILE }] } }]),
      ],
    },
  };
}
