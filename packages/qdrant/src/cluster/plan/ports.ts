import type { Service } from '@polder/kube';
import { clientService, headlessService } from '../objects/index.ts';
import type { Situation } from './situation.ts';
import type { ClusterStep } from './step.ts';

type CorrectPorts = Extract<ClusterStep, { readonly do: 'correct-ports' }>;

/**
 * A Service tells its ports apart by their numbers, and has each name once. One that somebody gave another number still has
 * the name: ours could not be applied beside it.
 */
export function correctingPorts({ cluster, observed: { children } }: Situation): readonly CorrectPorts[] {
  return [
    ...correction(children.service, clientService(cluster)),
    ...correction(children.headless, headlessService(cluster)),
  ];
}

function correction(service: Service | undefined, { spec }: Service): readonly CorrectPorts[] {
  const [found, wanted] = [service?.spec?.ports ?? [], spec?.ports ?? []];
  const namesake = (name: string | undefined) => found.find((one) => one.name === name);
  const stray = wanted.find(({ name, port, protocol }) => {
    const now = namesake(name);
    return now !== undefined && (now.port !== port || (now.protocol ?? 'TCP') !== protocol);
  });
  if (!service || !stray) return [];
  const others = found.filter((one) => !wanted.some(({ name, port }) => one.name === name || one.port === port));
  const because = `port ${stray.name} is ${stray.port}, and somebody changed it`;
  // What the server has chosen for a port, it keeps.
  const ports = [...wanted.map((one) => ({ ...namesake(one.name), ...one })), ...others];
  return [{ do: 'correct-ports', because, service, ports }];
}
