import { messageOf, type Probe } from '@polder/kube';
import { probeCommand } from '../references/index.ts';
import type { ProbeAnswer } from '../runner.ts';
import type { ProbeTarget } from './target.ts';

/** More of what a command says is not shown. */
const MOST_OF_OUTPUT = 10 * 1024;

/** Healthy if the command ends with 0. */
export async function askExec(probe: Probe, target: ProbeTarget, signal: AbortSignal): Promise<ProbeAnswer> {
  const command = probeCommand(probe, target.container);
  try {
    const { exitCode, output } = await target.exec(command, signal);
    return exitCode === 0 ? { is: 'healthy' } : { is: 'unhealthy', because: output.slice(0, MOST_OF_OUTPUT) };
  } catch (error) {
    if (!signal.aborted) return { is: 'unhealthy', because: messageOf(error) };
    const quoted = JSON.stringify(command.join(' '));
    return { is: 'unhealthy', because: `command timed out: ${quoted} timed out after ${probe.timeoutSeconds ?? 1}s` };
  }
}
