/** What a pipeline is asked to do here. Every client gets the same input and has to bring all of it to the same place. */
export interface Job {
  readonly name: string;
  readonly from: 'kafka' | 'postgresql';
  readonly to: 'kafka' | 'postgresql';
  /** Filter, mask, select and timestamp. */
  readonly isTransforming?: boolean;
  /** Half of the messages are about rows that are there already. */
  readonly isUpsert?: boolean;
}

export const JOBS: readonly Job[] = [
  { name: 'Kafka → Kafka', from: 'kafka', to: 'kafka' },
  { name: 'Kafka → Kafka, transforming', from: 'kafka', to: 'kafka', isTransforming: true },
  { name: 'Kafka → PostgreSQL, append', from: 'kafka', to: 'postgresql' },
  { name: 'Kafka → PostgreSQL, upsert', from: 'kafka', to: 'postgresql', isUpsert: true },
  { name: 'PostgreSQL → Kafka', from: 'postgresql', to: 'kafka' },
];

/** One job, for one client, once. */
export interface Assignment {
  readonly job: Job;
  /** `host:port` */
  readonly broker: string;
  readonly postgres: URL;
  /** A topic or a table. */
  readonly input: string;
  readonly output: string;
  /** Unique: for consumer groups and the like. */
  readonly id: string;
  /** For the client's configuration; empty, and gone afterwards. */
  readonly folder: string;
  /** Where its metrics may be served. */
  readonly port: number;
}

export interface Peer {
  readonly name: string;
  /** Builds or brings what is not in the cache yet, and says which version it is. */
  prepare(): Promise<string>;
  /** Writes the configuration and says how to start it. Undefined: it can't do this job. */
  command(assignment: Assignment): readonly string[] | undefined;
}

/** Rows that are written together, where a client can be told. */
export const BATCH_SIZE = 1_000;
