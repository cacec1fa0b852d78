/** A container as whoever runs stand-ins hands it to one. These are the parts of it that matter here. */
export interface Place {
  readonly container: {
    readonly image?: string;
    readonly volumeMounts?: readonly { readonly mountPath: string; readonly subPath?: string }[];
  };
  /** Where to listen. */
  readonly address: string;
  readonly env: ReadonlyMap<string, string>;
  readonly args: readonly string[];
  volumeAt(mountPath: string): PlaceVolume | undefined;
  directoryAt(mountPath: string): string | undefined;
  say(line: string): void;
  crash(exitCode: number, message: string): void;
}

export type PlaceVolume =
  | { readonly is: 'files'; readonly files: ReadonlyMap<string, { readonly bytes: Uint8Array }> }
  | { readonly is: 'empty' | 'claim' | 'host' };

/** A file of a ConfigMap or a Secret, mounted by itself or in a folder. */
export function fileAt(
  { container, volumeAt }: Pick<Place, 'container' | 'volumeAt'>,
  path: string,
): string | undefined {
  for (const { mountPath, subPath } of container.volumeMounts ?? []) {
    const volume = volumeAt(mountPath);
    if (volume?.is !== 'files') continue;
    const name =
      mountPath === path ? subPath : path.startsWith(`${mountPath}/`) ? path.slice(mountPath.length + 1) : undefined;
    const file = name === undefined ? undefined : volume.files.get(name);
    if (file) return Buffer.from(file.bytes).toString('utf8');
  }
  return undefined;
}
