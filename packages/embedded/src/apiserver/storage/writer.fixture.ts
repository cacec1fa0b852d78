/** Writes without end, and reports each write once it is acknowledged: to be killed in the middle of it. */
import { systemClock } from '@polder/kube';
import { createApiServer } from '../api-server.ts';
import { fileStorage } from './file.ts';

const server = createApiServer({
  clock: systemClock,
  random: Math.random,
  storage: fileStorage(process.argv[2] ?? ''),
});
for (let number = 0; ; number++) {
  const name = `n${number}`;
  const response = await server.handle({
    method: 'POST',
    path: '/api/v1/namespaces/default/configmaps',
    headers: {},
    body: JSON.stringify({ metadata: { name }, data: { text: 'x'.repeat(2_000) } }),
  });
  await response.text();
  if (response.status === 201) {
    await new Promise<void>((resolve) => process.send?.(name, undefined, undefined, () => resolve()));
  }
}
