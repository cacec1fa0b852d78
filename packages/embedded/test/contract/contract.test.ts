import { embeddedServer } from '../embedded-server.ts';
import { runContract } from './suite.ts';
import { topics } from './topics.ts';

async function start() {
  const server = embeddedServer();
  return { transport: server.transport(), stop: async () => server.close() };
}

runContract('embedded', start, topics);
