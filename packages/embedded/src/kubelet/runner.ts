import type { Container as ContainerSpec, Pod, Probe } from '@polder/kube';
import type { PodLogs } from '../apiserver/index.ts';
import type { SocketAddress } from '../network/index.ts';

/**
 * One way to run containers: as a process, as a stand-in, or as a simulation. The kubelet decides what runs when; a runner
 * only starts, watches and ends. It never writes to the cluster.
 */
export interface Runner {
  /** What users see in the pod's annotation: `process`, `stand-in`, `simulated`. */
  readonly name: string;
  /** Whether its pods can be reached: then they get loopback addresses, otherwise ones that only look like addresses. */
  readonly isReachable: boolean;
  /**
   * Makes what the containers of a pod share: its volumes, with these contents. Called before the first container starts, and
   * again when contents have changed; doing it twice changes nothing.
   */
  prepare(pod: Pod, volumes: readonly Volume[]): Promise<void>;
  /** Resolves once it runs. Fails with `StartFailure` if it can't. */
  start(launch: Launch): Promise<RunningContainer>;
  /** What still runs from before this program started, if such a thing can be; undefined if it is gone. */
  resume(launch: Launch, startedAt: number): Promise<RunningContainer | undefined>;
  /** What containers have written. */
  readonly logs: PodLogs;
  /** Takes away what a pod left: its directory, its volumes other than claims. */
  clean(pod: Pod): Promise<void>;
}

/** Everything that is settled before a container starts: all references are resolved, all variables expanded. */
export interface Launch {
  readonly pod: Pod;
  readonly container: ContainerSpec;
  /** How many times it has run before. */
  readonly restartCount: number;
  /** The address of the pod. */
  readonly address: string;
  /** In this order; later ones win. */
  readonly env: ReadonlyMap<string, string>;
  /** Entrypoint and arguments. Empty: what the image would do by itself. */
  readonly command: readonly string[] | undefined;
  readonly args: readonly string[] | undefined;
  /** To be called when the container's health changed by itself. */
  readonly changed: () => void;
}

/** One run of a container: from its start to its one end. */
export interface RunningContainer {
  /** In milliseconds. */
  readonly startedAt: number;
  /** Never rejects. */
  readonly ended: Promise<Ending>;
  /** Ports of it that are elsewhere than at the address of its pod. */
  readonly moved?: ReadonlyMap<number, SocketAddress>;
  /** Asks it to end (SIGTERM). */
  terminate(): void;
  /** Ends it (SIGKILL). */
  kill(): void;
  /** Its health as it knows it; a container that says so itself is not probed. */
  health?(): Health;
  /** The pod's metadata changed: for what is run by annotations. */
  heed?(pod: Pod): void;
  /** Asks a probe's question once; the kubelet counts the answers. Must heed the signal: it is the probe's timeout. */
  probe(probe: Probe, signal: AbortSignal): Promise<ProbeAnswer>;
  /**
   * Runs a command where the container runs: `preStop` and `postStart`. Rejects if it can't be started, and when the signal
   * aborts; nothing of it runs on then.
   */
  exec(
    command: readonly string[],
    signal: AbortSignal,
  ): Promise<{ readonly exitCode: number; readonly output: string }>;
}

/** What the probes say. A container without a probe passes it. */
export interface Health {
  readonly isStarted: boolean;
  readonly isReady: boolean;
  /** Set when it must be restarted: the probe that failed for good. */
  readonly unhealthy?: 'startup' | 'liveness' | undefined;
}

export type ProbeAnswer = { readonly is: 'healthy' } | { readonly is: 'unhealthy'; readonly because: string };

export interface Ending {
  /** 128 + n after signal n. */
  readonly exitCode: number;
  readonly signal?: number;
  /** In milliseconds. */
  readonly at: number;
  /** Why, if there is more to say than the exit code: `OOMKilled`. */
  readonly reason?: string;
  /** The container's own last words (its termination message). */
  readonly message?: string;
}

/** A container could not be started; the reason is what `kubectl get pods` shows. */
export class StartFailure extends Error {
  readonly reason:
    | 'CreateContainerConfigError'
    | 'CreateContainerError'
    | 'RunContainerError'
    | 'ErrImagePull'
    | 'InvalidImageName';

  /** Set if it came as far as to be run: then this was a run, which ended with this code and for the reason `StartError`. */
  readonly exitCode: number | undefined;

  constructor(
    reason: StartFailure['reason'],
    message: string,
    options: ErrorOptions & { readonly exitCode?: number } = {},
  ) {
    super(message, options);
    this.reason = reason;
    this.exitCode = options.exitCode;
  }
}

/** A volume of a pod, with everything that it refers to looked up. */
export type Volume =
  | { readonly name: string; readonly is: 'files'; readonly files: ReadonlyMap<string, VolumeFile> }
  | { readonly name: string; readonly is: 'empty' }
  | {
      readonly name: string;
      readonly is: 'claim';
      readonly volumeName: string;
      /** Where its data are; undefined if that is no directory of this machine. */
      readonly path: string | undefined;
    }
  | { readonly name: string; readonly is: 'host'; readonly path: string };

export interface VolumeFile {
  readonly bytes: Uint8Array;
  readonly mode: number;
}
