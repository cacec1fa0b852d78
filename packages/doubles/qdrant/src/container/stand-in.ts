import { join } from 'node:path';
import type { Clock } from '../clock.ts';
import { Cluster, type ClusterOptions } from '../cluster.ts';
import { Disk } from '../disk.ts';
import { openFolders } from '../folder-disk.ts';
import { ConfigurationError, configurationOf } from './configuration.ts';
import type { Place } from './place.ts';
import { openSockets, REST, type SocketAddress } from './sockets.ts';

export interface RunningPeer {
  readonly moved: ReadonlyMap<number, SocketAddress>;
  close(): Promise<void>;
}

export interface QdrantStandIn {
  /** All peers that run here: for their faults, and for what they were asked. */
  readonly cluster: Cluster;
  /** Runs a container of a Qdrant image: one peer. */
  readonly run: (place: Place) => Promise<RunningPeer>;
}

export interface QdrantStandInOptions {
  readonly clock: Clock;
  /** 0 <= r < 1. */
  readonly random: () => number;
}

const STORAGE = '/qdrant/storage';
const SNAPSHOTS = '/qdrant/snapshots';

/**
 * Peers as containers: `standIns({ 'qdrant/qdrant': qdrantStandIn({ clock, random }).run }, …)`. A peer is what its flags,
 * variables and files make it, and its volume is a folder, which another life of it finds again.
 */
export function qdrantStandIn({ clock, random }: QdrantStandInOptions): QdrantStandIn {
  const cluster = new Cluster({ clock, random, download });
  return { cluster, run: (place) => runPeer(cluster, place) };
}

const download: NonNullable<ClusterOptions['download']> = async (url, headers) => {
  const response = await fetch(url, { headers });
  return { status: response.status, bytes: await response.bytes() };
};

async function runPeer(cluster: Cluster, place: Place): Promise<RunningPeer> {
  const { peer: settings, tls } = configured(place);
  const { hostname } = new URL(settings.uri);
  const disk = diskOf(place);
  const killed = new AbortController();
  const sockets = await openSockets({
    address: place.address,
    tls,
    isOpen: () => {
      const peer = cluster.peerAt(settings.uri);
      return peer !== undefined && peer.isServing && !peer.faults.refusesClients;
    },
    answer: (request) => cluster.request(hostname, request),
  });
  // As a real container, it runs while it joins, and may give up only then.
  const begin = async () => {
    const start = await cluster.start(settings, disk, killed.signal);
    if (killed.signal.aborted) return;
    place.say(start.is === 'serving' ? `Qdrant HTTP listening on ${REST}` : start.message);
    if (start.is === 'exited') place.crash(start.exitCode, start.message);
  };
  void begin();
  return {
    moved: sockets.moved,
    close: async () => {
      killed.abort();
      cluster.peerAt(settings.uri)?.stop();
      await sockets.close();
    },
  };
}

/** A wrong configuration ends the container, with its reason in the log as everything else. */
function configured(place: Place) {
  try {
    return configurationOf(place);
  } catch (error) {
    if (error instanceof ConfigurationError) place.say(error.message);
    throw error;
  }
}

/** Without a volume, what a peer has goes with its container. */
function diskOf(place: Place): Disk {
  const storage = place.directoryAt(STORAGE);
  if (storage === undefined) return new Disk();
  return openFolders({ storage, snapshots: place.directoryAt(SNAPSHOTS) ?? join(storage, 'snapshots') });
}
