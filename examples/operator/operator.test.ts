import { createApiServer } from '@polder/embedded';
import { test } from 'vitest';
import { greetingScenario } from './scenario.ts';

test('the example operator does on the embedded server what its README says', async () => {
  const server = createApiServer();
  await greetingScenario(server.transport());
  server.close();
});
