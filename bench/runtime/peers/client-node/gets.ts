import { CoreV1Api, KubeConfig } from '@kubernetes/client-node';
import { podRef } from '../../pods.ts';
import { report } from '../node-process.ts';

const [, , kubeconfigPath = '', count = ''] = process.argv;
const config = new KubeConfig();
config.loadFromFile(kubeconfigPath);
const api = config.makeApiClient(CoreV1Api);
for (let at = 0; at < Number(count); at++) await api.readNamespacedPod(podRef(0));
report({ report: 'done' });
process.exit();
