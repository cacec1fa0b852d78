import { mkdir } from 'node:fs/promises';
import { type Clock, type Container, messageOf, type Pod, type Probe } from '@polder/kube';
import type { PodLogs } from '../../apiserver/index.ts';
import type { SocketAddress } from '../../network/index.ts';
import { type ImageRule, matches } from '../images.ts';
import { ContainerLogs, podLogs } from '../logs/index.ts';
import { ask, portOf } from '../probes/index.ts';
import { Directories, removeTree } from '../process/directories.ts';
import {
  type Ending,
  type Launch,
  type ProbeAnswer,
  type Runner,
  type RunningContainer,
  StartFailure,
  type Volume,
} from '../runner.ts';

/** A server in this process that behaves like the program of an image. */
export type StandIn = (place: StandInPlace) => Promise<RunningStandIn>;

/** What it is given, as a program is given its container. */
export interface StandInPlace {
  readonly pod: Pod;
  readonly container: Container;
  /** Where to listen, at the ports of the container. Not every system has it: then any free port of 127.0.0.1 will do. */
  readonly address: string;
  readonly env: ReadonlyMap<string, string>;
  readonly args: readonly string[];
  /** What is mounted there, if anything: the contents of ConfigMaps and Secrets, or that it is a directory. */
  volumeAt(mountPath: string): Volume | undefined;
  /** Of a claim or an empty volume that is mounted there. */
  directoryAt(mountPath: string): string | undefined;
  /** Writes a line to the container's log. */
  say(line: string): void;
  /** Ends the container, as a crash ends a program. */
  crash(exitCode: number, message: string): void;
}

export interface RunningStandIn {
  /** Ports of the container that are elsewhere than at its address. */
  readonly moved?: ReadonlyMap<number, SocketAddress>;
  close(): Promise<void>;
}

/** By images, as in an `ImageRule`: `{ 'qdrant/qdrant': startQdrant }`. */
export type StandIns = Readonly<Record<string, StandIn>>;

export interface StandInOptions {
  /** Where logs and empty volumes are kept. */
  readonly folder: string;
  readonly clock: Clock;
}

/** The rules of an image table by which these images run as servers in this process. */
export function standIns(table: StandIns, options: StandInOptions): readonly ImageRule[] {
  const runner = new StandInRunner(table, options);
  return Object.keys(table).map((images) => ({ images, runner }));
}

/** What runs beside a stand-in, in the same pod, and has none itself: it is there, and does nothing. */
const IDLE: StandIn = async () => ({ close: async () => {} });

class StandInRunner implements Runner {
  readonly name = 'stand-in';
  readonly isReachable = true;
  readonly logs: PodLogs;
  readonly #table: readonly (readonly [images: string, standIn: StandIn])[];
  readonly #options: StandInOptions;
  readonly #directories: Directories;
  readonly #containerLogs: ContainerLogs;
  /** Of each pod that was prepared, by its uid. */
  readonly #volumes = new Map<string, readonly Volume[]>();

  constructor(table: StandIns, options: StandInOptions) {
    this.#table = Object.entries(table);
    this.#options = options;
    this.#directories = new Directories(options.folder);
    this.#containerLogs = new ContainerLogs(options.clock);
    const directoryOf = (podUid: string, container: string) => this.#directories.container(podUid, container);
    this.logs = podLogs(this.#containerLogs, directoryOf, options.clock);
  }

  async prepare(pod: Pod, volumes: readonly Volume[]): Promise<void> {
    for (const volume of volumes) {
      if (volume.is === 'claim' || volume.is === 'empty') {
        await mkdir(this.#directories.volume(pod, volume), { recursive: true, mode: 0o700 });
      }
    }
    this.#volumes.set(pod.metadata.uid ?? '', volumes);
  }

  async start(launch: Launch): Promise<RunningContainer> {
    const { pod, container, restartCount } = launch;
    const directory = this.#directories.container(pod.metadata.uid ?? '', container.name);
    this.#containerLogs.begin(directory, restartCount);
    const running = new StandInContainer(launch, this.#options.clock, () =>
      this.#containerLogs.end(directory, restartCount),
    );
    try {
      const [, standIn = IDLE] = this.#table.find(([images]) => matches(images, container.image ?? '')) ?? [];
      await running.open(standIn, this.#placeOf(launch, directory, running));
      return running;
    } catch (error) {
      await this.#containerLogs.end(directory, restartCount);
      throw new StartFailure('RunContainerError', messageOf(error), { cause: error, exitCode: 1 });
    }
  }

  /** It lived in the process that started it. */
  resume(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  async clean(pod: Pod): Promise<void> {
    this.#volumes.delete(pod.metadata.uid ?? '');
    await removeTree(this.#directories.pod(pod));
  }

  #placeOf(
    { pod, container, address, env, args, restartCount }: Launch,
    directory: string,
    running: StandInContainer,
  ): StandInPlace {
    const volumeAt = (mountPath: string) => {
      const mount = container.volumeMounts?.find((one) => one.mountPath === mountPath);
      return this.#volumes.get(pod.metadata.uid ?? '')?.find(({ name }) => name === mount?.name);
    };
    return {
      pod,
      container,
      address,
      env,
      args: args ?? [],
      volumeAt,
      directoryAt: (mountPath) => {
        const volume = volumeAt(mountPath);
        return volume && volume.is !== 'files' ? this.#directories.volume(pod, volume) : undefined;
      },
      say: (line) => void this.#containerLogs.write(directory, restartCount, 'stdout', Buffer.from(`${line}\n`)),
      crash: (exitCode, message) => running.end({ exitCode, message }),
    };
  }
}

class StandInContainer implements RunningContainer {
  readonly startedAt: number;
  readonly ended: Promise<Ending>;
  readonly #launch: Launch;
  readonly #clock: Clock;
  readonly #closeLog: () => Promise<void>;
  #server: RunningStandIn | undefined;
  #isOver = false;
  #settle: (ending: Ending) => void = () => {};

  constructor(launch: Launch, clock: Clock, closeLog: () => Promise<void>) {
    this.#launch = launch;
    this.#clock = clock;
    this.#closeLog = closeLog;
    this.startedAt = clock.now();
    this.ended = new Promise((resolve) => (this.#settle = resolve));
  }

  async open(standIn: StandIn, place: StandInPlace): Promise<void> {
    this.#server = await standIn(place);
    // It crashed while it started: whoever ended it had nothing to close yet.
    if (this.#isOver) await this.#server.close();
  }

  get moved(): ReadonlyMap<number, SocketAddress> {
    return this.#server?.moved ?? new Map();
  }

  terminate(): void {
    this.end({ exitCode: 0 });
  }

  kill(): void {
    this.end({ exitCode: 137, signal: 9 });
  }

  end(ending: Omit<Ending, 'at'>): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const close = async () => {
      await Promise.allSettled([this.#server?.close(), this.#closeLog()]);
      this.#settle({ ...ending, at: this.#clock.now() });
    };
    void close();
  }

  probe(probe: Probe, signal: AbortSignal): Promise<ProbeAnswer> {
    const { container, address } = this.#launch;
    return ask(this.#relocated(probe), { container, address, exec: () => this.exec() }, signal);
  }

  /** Asks where the port really is. */
  #relocated(probe: Probe): Probe {
    const asked = probe.httpGet ?? probe.tcpSocket;
    const to = asked && this.moved.get(portOf(asked.port, this.#launch.container));
    if (!to) return probe;
    return probe.httpGet ? { ...probe, httpGet: { ...probe.httpGet, ...to } } : { ...probe, tcpSocket: to };
  }

  exec(): Promise<never> {
    return Promise.reject(new Error('a stand-in runs no commands'));
  }
}
