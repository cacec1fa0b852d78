import { asWire, valueAt, withValueAt } from './object-text.ts';
import { isObject } from './schema/index.ts';
import type { WireObject } from './served-kind.ts';

const SECONDS_ON_A_LOST_NODE = 300;

/**
 * What the real server's own admission does to a new pod: without a class its priority is 0, and it stays for a while on
 * a node that is not heard of. (It also mounts a token; pods here are processes of the same user.)
 */
export function admittedPod(pod: WireObject): WireObject {
  const spec = isObject(pod['spec']) ? pod['spec'] : {};
  const given = Array.isArray(spec['tolerations']) ? spec['tolerations'] : [];
  const tolerations = [...given, ...lostNodes().filter(({ key }) => !given.some((one) => tolerates(one, key)))];
  return asWire(
    withValueAt(pod, ['spec'], { preemptionPolicy: 'PreemptLowerPriority', priority: 0, ...spec, tolerations }),
  );
}

/** The one address of old clients and the list of new ones say the same. */
export function withPodAddresses(pod: WireObject): WireObject {
  const ip = valueAt(pod, ['status', 'podIP']);
  if (!ip || valueAt(pod, ['status', 'podIPs']) !== undefined) return pod;
  return asWire(withValueAt(pod, ['status', 'podIPs'], [{ ip }]));
}

const lostNodes = () =>
  ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'].map((key) => ({
    key,
    operator: 'Exists',
    effect: 'NoExecute',
    tolerationSeconds: SECONDS_ON_A_LOST_NODE,
  }));

function tolerates(toleration: unknown, key: string): boolean {
  const own = valueAt(toleration, ['key']) ?? '';
  const effect = valueAt(toleration, ['effect']) ?? '';
  return (own === key || own === '') && (effect === 'NoExecute' || effect === '');
}
