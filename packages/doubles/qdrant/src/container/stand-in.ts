import { join } from 'node:path';
import type { Clock } from '../clock.ts';
import { Cluster, type ClusterOptions } from '../cluster.ts';
import { Disk } from '../disk.ts';
import { openFolders } from '../folder-disk.ts';
import type { PeerSettings } from '../settings.ts';
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
  /** The addresses behind a name, as DNS has them. Without it, peers are known by their own names alone. */
  readonly addressesOf?: (host: string) => readonly string[];
}

const STORAGE = '/qdrant/storage';
const SNAPSHOTS = '/qdrant/snapshots';

/**
 * Peers as containers: `standIns({ 'qdrant/qdrant': qdrantStandIn({ clock, random }).run }, …)`. A peer is what its flags,
 * variables and files make it, and its volume is a folder, which another life of it finds again.
 */
export function qdrantStandIn({ clock, random, addressesOf = () => [] }: QdrantStandInOptions): QdrantStandIn {
  const cluster = new Cluster({ clock, random, download });
  const surroundings = { cluster, uris: new Map<string, string>(), addressesOf };
  return { cluster, run: (place) => runPeer(surroundings, place) };
}

interface Surroundings {
  readonly cluster: Cluster;
  /** Of the peers that run, by the addresses of their containers. */
  readonly uris: Map<string, string>;
  readonly addressesOf: (host: string) => readonly string[];
}

const download: NonNullable<ClusterOptions['download']> = async (url, headers) => {
  const response = await fetch(url, { headers });
  return { status: response.status, bytes: await response.bytes() };
};

async function runPeer(surroundings: Surroundings, place: Place): Promise<RunningPeer> {
  const { cluster, uris } = surroundings;
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
  uris.set(place.address, settings.uri);
  // As a real container, it runs while it joins, and may give up only then.
  const begin = async () => {
    const start = await cluster.start(throughSomebody(settings, surroundings), disk, killed.signal);
    if (killed.signal.aborted) return;
    place.say(start.is === 'serving' ? `Qdrant HTTP listening on ${REST}` : start.message);
    if (start.is === 'exited') place.crash(start.exitCode, start.message);
  };
  void begin();
  return {
    moved: sockets.moved,
    close: async () => {
      killed.abort();
      uris.delete(place.address);
      cluster.peerAt(settings.uri)?.stop();
      await sockets.close();
    },
  };
}

/** The name of a headless Service is no peer's: whoever is told to join there joins any of those behind it that serve. */
function throughSomebody(settings: PeerSettings, { cluster, uris, addressesOf }: Surroundings): PeerSettings {
  const { uri, bootstrap } = settings;
  if (bootstrap === undefined || bootstrap === uri || cluster.peerAt(bootstrap)) return settings;
  const behind = addressesOf(new URL(bootstrap).hostname).map((address) => uris.get(address));
  const found = behind.find((one) => one !== undefined && one !== uri && cluster.peerAt(one)?.isServing);
  return found === undefined ? settings : { ...settings, bootstrap: found };
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
