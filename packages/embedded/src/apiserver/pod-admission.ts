import { asText, asWire, valueAt, withValueAt } from './object-text.ts';
import { isObject } from './schema/index.ts';
import type { WireObject } from './served-kind.ts';
import { forbidden } from './status.ts';
import type { ObjectStore } from './watch/index.ts';

const SECONDS_ON_A_LOST_NODE = 300;

/**
 * What the real server's own admission does to a new pod: it gets the priority of its class, and it stays for a while on
 * a node that is not heard of. (It also mounts a token; pods here are processes of the same user.)
 */
export function admittedPod(pod: WireObject, store: ObjectStore): WireObject {
  const spec = isObject(pod['spec']) ? pod['spec'] : {};
  const given = Array.isArray(spec['tolerations']) ? spec['tolerations'] : [];
  const tolerations = [...given, ...lostNodes().filter(({ key }) => !given.some((one) => tolerates(one, key)))];
  return asWire(withValueAt(pod, ['spec'], { ...spec, ...priorityOf(pod, store), tolerations }));
}

const PODS = { group: '', plural: 'pods', kind: 'Pod' };

/** By the class that the pod names, or the one that is for all others. A pod does not say its priority itself. */
function priorityOf(pod: WireObject, store: ObjectStore) {
  const { name } = pod.metadata;
  const classes = store.cache('priorityclasses.scheduling.k8s.io');
  const asked = asText(valueAt(pod, ['spec', 'priorityClassName']));
  const found =
    asked === ''
      ? [...classes.entries('')].find(({ object }) => object['globalDefault'] === true)?.object
      : classes.get(asked)?.object;
  if (asked !== '' && found === undefined) throw forbidden(PODS, name, `no PriorityClass with name ${asked} was found`);
  const priority = found?.['value'] ?? 0;
  const preemptionPolicy = found?.['preemptionPolicy'] ?? 'PreemptLowerPriority';
  const computed = (what: string, given: unknown, value: unknown) => {
    if (given === undefined || given === value) return;
    const why = `must not be provided in pod spec; priority admission controller computed ${asText(value)} from the given PriorityClass name`;
    throw forbidden(PODS, name, `the ${what} (${asText(given)}) ${why}`);
  };
  computed('integer value of priority', valueAt(pod, ['spec', 'priority']), priority);
  computed('string value of PreemptionPolicy', valueAt(pod, ['spec', 'preemptionPolicy']), preemptionPolicy);
  return { priority, preemptionPolicy, ...(found && { priorityClassName: found.metadata.name }) };
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
