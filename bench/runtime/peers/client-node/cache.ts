/** The informer of @kubernetes/client-node, as its documentation shows it. */
import { CoreV1Api, KubeConfig, makeInformer } from '@kubernetes/client-node';
import { SyncMeter, Watcher } from '../node-process.ts';

const [, , kubeconfigPath = ''] = process.argv;
const config = new KubeConfig();
config.loadFromFile(kubeconfigPath);
const api = config.makeApiClient(CoreV1Api);
const watcher = new Watcher();
const informer = makeInformer(config, '/api/v1/pods', () => api.listPodForAllNamespaces());
informer.on('update', (pod) => watcher.saw(pod.metadata?.annotations));
// It ends with its first error; without a listener the whole process would.
informer.on('error', () => {});
const meter = new SyncMeter();
await informer.start();
await meter.synced(informer.list().length);
await watcher.obey();
