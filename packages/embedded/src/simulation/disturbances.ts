import type { ApiServer, Fault, FaultMatch } from '../apiserver/index.ts';
import type { Random } from './random.ts';

/** Whom a disturbance hits, and what it may use. */
export interface Target {
  readonly server: ApiServer;
  /** Known to the server by this user agent. */
  readonly actor: string;
  readonly random: Random;
  /** The actor's process dies; returns how to start it again. */
  kill(): () => void;
  /** The actor's process stands still while time goes on; returns how to let it go on. */
  freeze(): () => void;
}

/** Begins, and returns how to end it. */
export type Disturbance = (target: Target) => () => void;

const WRITES = ['create', 'update', 'patch', 'delete', 'deletecollection'] as const;
const READS = ['get', 'list', 'watch'] as const;

const fault = ({ server, actor }: Target, match: FaultMatch, what: Fault) =>
  server.faults.on({ ...match, userAgent: actor }, what);

const onEach = (target: Target, verbs: readonly NonNullable<FaultMatch['verb']>[], what: Fault) => {
  const ends = verbs.map((verb) => fault(target, { verb }, what));
  return () => {
    for (const end of ends) end();
  };
};

/** Everything that can go wrong between a program and its API server, by the name that a test report shows. */
export const disturbances = {
  'watches that break': (target) => fault(target, { verb: 'watch' }, { do: 'reset' }),
  'watches that are closed': (target) => fault(target, { verb: 'watch' }, { do: 'close' }),
  /** Whatever happens meanwhile is lost, and nobody says so. */
  'watches that fall silent': (target) => fault(target, { verb: 'watch' }, { do: 'silence' }),
  'versions that have expired': (target) => fault(target, { verb: 'watch' }, { do: 'expire' }),
  'a history that is forgotten': (target) => {
    const end = fault(target, { verb: 'watch' }, { do: 'reset' });
    return () => {
      target.server.compact();
      end();
    };
  },
  'events that come late': (target) => {
    const ms = target.random.between(500, 10_000);
    return fault(target, { verb: 'watch' }, { do: 'delay', ms });
  },
  'events that come twice': (target) => fault(target, { verb: 'watch' }, { do: 'duplicate' }),
  /** No real server of today does this to one that asks for the newest state; a cache in front of it would. */
  'reads from the past': (target) => {
    const { revision } = target.server;
    return onEach(target, READS, { do: 'stale', revision });
  },
  'a server that is busy': (target) =>
    fault(target, {}, { do: 'throttle', retryAfterSeconds: target.random.integer(1, 5) }),
  'a server that is slow': (target) => fault(target, {}, { do: 'slow', ms: target.random.between(200, 4_000) }),
  'a server that is away': (target) => {
    fault(target, { verb: 'watch' }, { do: 'reset' })();
    return fault(target, {}, { do: 'reset' });
  },
  'writes that are refused': (target) => onEach(target, WRITES, { do: 'fail', when: 'before' }),
  'writes that are done and called failures': (target) => onEach(target, WRITES, { do: 'fail', when: 'after' }),
  /** They hang until whoever waits gives up, however soon the server is well again. */
  'requests without an answer': (target) => onEach(target, WRITES, { do: 'silence' }),
  'a process that stands still': (target) => target.freeze(),
  'a process that is killed': (target) => target.kill(),
} satisfies Readonly<Record<string, Disturbance>>;

export type DisturbanceName = keyof typeof disturbances;

export const disturbanceNames: readonly DisturbanceName[] = Object.keys(disturbances).filter(isDisturbance);

function isDisturbance(name: string): name is DisturbanceName {
  return name in disturbances;
}
