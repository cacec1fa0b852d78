import { mkdir } from 'node:fs/promises';
import { type Clock, type Logger, messageOf, type Pod, silentLogger } from '@polder/kube';
import type { PodLogs } from '../../apiserver/index.ts';
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
  /** What a container without a command runs, as the entrypoint of an image would. */
  readonly entrypoint?: readonly string[];
  /** Where the programs of containers are looked for: their `PATH`, if they have none of their own. */
  readonly path: string;
  readonly clock: Clock;
  readonly log?: Logger;
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
    const { entrypoint = [], path, clock } = this.#options;
    const { pod, container } = launch;
    const uid = pod.metadata.uid ?? '';
    const directory = this.#directories.container(uid, container.name);
    const setup = await setUp(launch, { directory, volumes: this.#volumes.get(uid) ?? new Map(), entrypoint, path });
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
