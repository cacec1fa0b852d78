import { mkdir, writeFile } from 'node:fs/promises';
import { isAbsolute, join, resolve } from 'node:path';
import type { VolumeMount } from '@polder/kube';
import { expand } from '../references/index.ts';
import { type Launch, StartFailure, type Volume } from '../runner.ts';
import { removeTree } from './directories.ts';
import { type Mount, mountPath, relocation } from './mounts.ts';
import type { Program } from './program.ts';

const TERMINATION_LOG = '/dev/termination-log';

/** A volume of the pod, where it is. */
export interface PlacedVolume {
  readonly volume: Volume;
  readonly directory: string;
}

export interface ContainerSetup {
  readonly program: Program;
  /** Where the container's last words go. */
  readonly terminationLog: string;
  /** A command as it has to be run outside of a container. */
  relocate(words: readonly string[]): readonly string[];
}

export interface SetupOptions {
  /** The container's own. */
  readonly directory: string;
  readonly volumes: ReadonlyMap<string, PlacedVolume>;
  readonly entrypoint: readonly string[];
  /** Variables beside those of its spec. */
  readonly env: Readonly<Record<string, string>>;
  /** Where programs are looked for. */
  readonly path: string;
}

/** Makes what one run of a container needs: fresh directories, its paths put right, its variables. */
export async function setUp(launch: Launch, options: SetupOptions): Promise<ContainerSetup> {
  const { container, pod, command, args = [] } = launch;
  const { directory, entrypoint, path } = options;
  const [home, temporary] = [join(directory, 'home'), join(directory, 'tmp')];
  const terminationLog = join(directory, 'termination-log');
  for (const fresh of [home, temporary]) {
    await removeTree(fresh);
    await mkdir(fresh, { recursive: true, mode: 0o700 });
  }
  await writeFile(terminationLog, '', { mode: 0o600 });
  const mounts = await mountsOf(launch, options);
  const relocated = relocation([
    ...mounts,
    { path: mountPath(container.terminationMessagePath || TERMINATION_LOG), directory: terminationLog },
  ]);
  // The entrypoint is a command of this machine already.
  const words = [...(command?.map(relocated) ?? entrypoint), ...args.map(relocated)];
  if (command === undefined && entrypoint.length === 0) {
    const image = JSON.stringify(container.image ?? '');
    throw new StartFailure('RunContainerError', `no command specified, and no entrypoint is known for image ${image}`);
  }
  const env = new Map([
    ['PATH', path],
    ['HOME', home],
    ['TMPDIR', temporary],
    ['HOSTNAME', pod.spec?.hostname ?? pod.metadata.name],
    ['LANG', 'C.UTF-8'],
    // What a program knows by itself in a network of its own: its address, and where short names belong (`network/lookup.ts`).
    ['POLDER_POD_IP', launch.address],
    ['POLDER_NAMESPACE', pod.metadata.namespace ?? ''],
  ]);
  for (const [name, value] of [...Object.entries(options.env), ...launch.env]) env.set(name, relocated(value));
  const workingDirectory = container.workingDir ? resolve(home, relocated(container.workingDir)) : home;
  // As runtimes do; but only where it is ours to make.
  if (mounts.some((mount) => workingDirectory.startsWith(`${mount.directory}/`))) {
    await mkdir(workingDirectory, { recursive: true });
  }
  const program = { words, directory: workingDirectory, env };
  return { program, terminationLog, relocate: (given) => given.map(relocated) };
}

async function mountsOf(launch: Launch, { volumes }: SetupOptions): Promise<readonly Mount[]> {
  const mounts: Mount[] = [];
  for (const mount of launch.container.volumeMounts ?? []) {
    const placed = volumes.get(mount.name);
    if (placed === undefined) {
      throw new StartFailure(
        'CreateContainerConfigError',
        `cannot find volume ${JSON.stringify(mount.name)} to mount into container ${JSON.stringify(launch.container.name)}`,
      );
    }
    const path = mountPath(mount.mountPath);
    if (path === '/') {
      throw new StartFailure(
        'CreateContainerConfigError',
        `volume ${JSON.stringify(mount.name)} can't be mounted at "/" of a process`,
      );
    }
    mounts.push({ path, directory: await placeOf(mount, placed, launch.env) });
  }
  return mounts;
}

async function placeOf(mount: VolumeMount, { volume, directory }: PlacedVolume, env: ReadonlyMap<string, string>) {
  const subPath = mount.subPathExpr ? expandedSubPath(mount.subPathExpr, env) : (mount.subPath ?? '');
  if (subPath === '') return directory;
  const refuse = (message: string) => new StartFailure('CreateContainerConfigError', message);
  if (isAbsolute(subPath)) throw refuse(`error SubPath \`${subPath}\` must not be an absolute path`);
  if (subPath.split('/').includes('..'))
    throw refuse(`unable to provision SubPath \`${subPath}\`: must not contain '..'`);
  const place = join(directory, subPath);
  // Files come from elsewhere: what is not among them can't be made.
  if (volume.is !== 'files') await mkdir(place, { recursive: true }).catch(notADirectory);
  return place;
}

/** A path can lead to a file. */
function notADirectory(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
}

/** Unlike elsewhere, a variable that is unknown or empty is an error: it would make another path. */
function expandedSubPath(text: string, env: ReadonlyMap<string, string>): string {
  const missing = new Set<string>();
  const expanded = expand(text, (name) => {
    const value = env.get(name) ?? '';
    if (value === '') missing.add(name);
    return value;
  });
  if (missing.size === 0) return expanded;
  throw new StartFailure('CreateContainerConfigError', `missing value for ${[...missing].toSorted().join(', ')}`);
}
