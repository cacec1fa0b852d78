import { connect } from 'node:net';
import type { TCPSocketAction } from '@polder/kube';
import type { ProbeAnswer } from '../runner.ts';
import { dialError } from './network-error.ts';
import { joined, type ProbeTarget, portOf } from './target.ts';

/** Healthy if it takes a connection. */
export function askTcp(action: TCPSocketAction, target: ProbeTarget, signal: AbortSignal): Promise<ProbeAnswer> {
  const host = action.host || target.address;
  const port = portOf(action.port, target.container);
  return new Promise((resolve) => {
    const socket = connect({ host, port, signal });
    socket.once('connect', () => {
      socket.destroy();
      resolve({ is: 'healthy' });
    });
    socket.once('error', (error) => {
      const address = joined(host, port);
      const because = signal.aborted ? `dial tcp ${address}: i/o timeout` : dialError(error, address);
      resolve({ is: 'unhealthy', because });
    });
  });
}
