/** Everything that was decided about a cluster before its objects are written down. */
export interface Workload {
  /** How many pods there are now: what changes it is a step, judged by rules. */
  readonly replicas: number;
  /** What they run now, likewise. */
  readonly image: string;
  /** Through whom a peer with an empty volume joins; its own URI if it is to be the first of all. */
  readonly bootstrap: string;
  readonly apiKey: ApiKey | undefined;
  readonly readKey: ApiKey | undefined;
  readonly tls: Certificates | undefined;
  /** The size of volumes in the template of the StatefulSet: it can't be changed there. */
  readonly storageSize: string | undefined;
  readonly snapshotsSize: string | undefined;
}

export interface Certificates {
  readonly secretName: string;
  /** Over what the Secret has for peers. */
  readonly hash: string;
  /** Who signed what a peer shows, and whom it trusts. */
  readonly trust: string;
  /** When what a peer shows ends. */
  readonly ends: string;
}

export interface ApiKey {
  readonly value: string;
  /** What every pod takes as well before it takes the place of the other. */
  readonly next?: string | undefined;
  /** What pods still use that were not restarted yet. */
  readonly previous?: string | undefined;
  /** The user chose it. One that was generated is never written again. */
  readonly isGiven: boolean;
}
