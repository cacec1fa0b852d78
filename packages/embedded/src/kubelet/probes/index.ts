import { messageOf, type Probe } from '@polder/kube';
import type { ProbeAnswer } from '../runner.ts';
import { askExec } from './exec.ts';
import { askGrpc } from './grpc.ts';
import { askHttp } from './http.ts';
import type { ProbeTarget } from './target.ts';
import { askTcp } from './tcp.ts';

export { type ProbeTarget, portOf } from './target.ts';

/** Asks once. Never rejects: what keeps a probe from asking is an answer, too. The signal is its timeout. */
export async function ask(probe: Probe, target: ProbeTarget, signal: AbortSignal): Promise<ProbeAnswer> {
  const { exec, httpGet, tcpSocket, grpc, timeoutSeconds = 1 } = probe;
  try {
    if (exec) return await askExec(probe, target, signal);
    if (httpGet) return await askHttp(httpGet, target, signal);
    if (tcpSocket) return await askTcp(tcpSocket, target, signal);
    if (grpc) return await askGrpc(grpc, target, timeoutSeconds, signal);
    return { is: 'unhealthy', because: `missing probe handler for ${target.container.name}` };
  } catch (error) {
    return { is: 'unhealthy', because: messageOf(error) };
  }
}
