import { mkdir } from 'node:fs/promises';
import { type Clock, type Logger, messageOf, type Pod, silentLogger } from '@polder/kube';
import type { PodLogs } from '../../apiserver/index.ts';
import { matches } from '../images.ts';
import { ContainerLogs, podLogs } from '../logs/index.ts';
import { type Launch, type Runner, type RunningContainer, StartFailure, type Volume } from '../runner.ts';
import { writeFiles } from './atomic-files.ts';
import { type PlacedVolume, setUp } from './container-setup.ts';
import { Directories, removeTree } from './directories.ts';
import { ProcessContainer } from './process-container.ts';
import { Reaper } from './reaper.ts';
import { ProcessRecords } from './records.ts';

export interface ProcessRunnerOptions {
  /** Where volumes, logs and claims are kept. */
  readonly folder: string;
  /** What is known of images: the first whose pattern fits counts. */
  readonly images?: readonly HostImage[];
  /** Variables of every container, unless it has its own of the same name. */
  readonly env?: Readonly<Record<string, string>>;
  /** Where the programs of containers are looked for: their `PATH`, if they have none of their own. */
  readonly path: string;
  readonly clock: Clock;
  readonly log?: Logger;
}

/** What an image would bring along, were it one. */
export interface HostImage {
  /** As in an `ImageRule`. */
  readonly images: string;
  /** What a container without a command runs. A command of this machine: its paths stay as they are. */
  readonly entrypoint: readonly string[];
  /** Paths of mounts in it are put right, as everywhere. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs containers as processes of the user who runs this program. A new one ends what an earlier one left in its folder. */
export class ProcessRunner implements Runner {
  readonly name = 'process';
  readonly isReachable = true;
  /** What containers have written. */
  readonly logs: PodLogs;
  readonly #options: ProcessRunnerOptions;
  readonly #log: Logger;
  readonly #directories: Directories;
  readonly #containerLogs: ContainerLogs;
  readonly #records: ProcessRecords;
  readonly #reaper = new Reaper();
  readonly #running = new Set<RunningContainer>();
  /** Of each pod that was prepared, by its uid: its volumes by their names. */
  readonly #volumes = new Map<string, ReadonlyMap<string, PlacedVolume>>();

  constructor(options: ProcessRunnerOptions) {
    this.#options = options;
    this.#log = options.log ?? silentLogger;
    this.#directories = new Directories(options.folder);
    this.#records = new ProcessRecords(this.#directories.processes);
    this.#containerLogs = new ContainerLogs(options.clock);
    const directoryOf = (podUid: string, container: string) => this.#directories.container(podUid, container);
    this.logs = podLogs(this.#containerLogs, directoryOf, options.clock);
    const killed = this.#records.killLeftovers();
    if (killed.length > 0) this.#log.warn({ processes: killed }, 'killed processes that an earlier run had left');
  }

  async prepare(pod: Pod, volumes: readonly Volume[]): Promise<void> {
    await mkdir(this.#directories.pod(pod), { recursive: true, mode: 0o700 });
    const placed = new Map<string, PlacedVolume>();
    for (const volume of volumes) {
      const directory = this.#directories.volume(pod, volume);
      if (volume.is === 'files') await writeFiles(directory, volume.files, this.#options.clock);
      else if (volume.is !== 'host') await mkdir(directory, { recursive: true, mode: 0o700 });
      placed.set(volume.name, { volume, directory });
    }
    this.#volumes.set(pod.metadata.uid ?? '', placed);
  }

  async start(launch: Launch): Promise<RunningContainer> {
    try {
      const container = await this.#start(launch);
      this.#running.add(container);
      void container.ended.then(() => this.#running.delete(container));
      return container;
    } catch (error) {
      if (error instanceof StartFailure) throw error;
      throw new StartFailure('CreateContainerError', messageOf(error), { cause: error });
    }
  }

  async #start(launch: Launch): Promise<ProcessContainer> {
    const { images = [], path, clock } = this.#options;
    const { pod, container } = launch;
    const image = images.find((one) => matches(one.images, container.image ?? ''));
    const env = { ...this.#options.env, ...image?.env };
    const uid = pod.metadata.uid ?? '';
    const directory = this.#directories.container(uid, container.name);
    const volumes = this.#volumes.get(uid) ?? new Map<string, PlacedVolume>();
    const entrypoint = image?.entrypoint ?? [];
    const setup = await setUp(launch, { directory, volumes, entrypoint, env, path });
    return ProcessContainer.start({
      launch,
      setup,
      directory,
      clock,
      logs: this.#containerLogs,
      log: this.#log.child({ namespace: pod.metadata.namespace, pod: pod.metadata.name }),
      reaper: this.#reaper,
      records: this.#records,
    });
  }

  /** Nothing survives the program that started it: see `Reaper`. */
  resume(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  async clean(pod: Pod): Promise<void> {
    this.#volumes.delete(pod.metadata.uid ?? '');
    await removeTree(this.#directories.pod(pod));
  }

  /** Kills everything that runs. */
  async close(): Promise<void> {
    await this.#reaper.close();
    await Promise.all([...this.#running].map(({ ended }) => ended));
  }
}
