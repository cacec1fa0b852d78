/** `node examples/operator/main.ts`: installs the kind and runs its operator on the cluster of your kubeconfig. */
import {
  Client,
  CustomResourceDefinition,
  crdOf,
  loadConfig,
  Manager,
  register,
  socketTransport,
  stopSignal,
} from '@polder/kube';
import pino from 'pino';
import { Greeting, greetings } from './greetings.ts';

const userAgent = 'greetings/1.0';
const transport = socketTransport(await loadConfig());
const client = new Client({ transport, userAgent });
await client.apply(CustomResourceDefinition, crdOf(Greeting), { fieldManager: 'greetings', force: true });

const manager = new Manager({
  transport,
  userAgent,
  log: pino(),
  products: [
    {
      name: 'greetings',
      fieldManager: 'greetings',
      lease: { namespace: 'default', name: 'greetings.example.polder.dev' },
      controllers: [register(greetings)],
    },
  ],
});
await manager.run(stopSignal(process).signal);
await transport.close();
