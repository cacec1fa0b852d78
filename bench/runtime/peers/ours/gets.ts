import { POD, podRef } from '../../pods.ts';
import { report } from '../node-process.ts';
import { clientFor } from './client.ts';

const [, , kubeconfigPath = '', count = ''] = process.argv;
const client = clientFor(kubeconfigPath);
for (let at = 0; at < Number(count); at++) await client.get(POD, podRef(0));
report({ report: 'done' });
await client.close();
