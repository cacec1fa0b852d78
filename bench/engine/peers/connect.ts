import type { Peer } from '../jobs.ts';

export const connect: Peer = {
  name: 'Kafka Connect',
  prepare: async () => 'none',
  command: () => undefined,
};
