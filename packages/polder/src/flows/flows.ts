import { type Manifest, readManifests } from '../manifests/index.ts';

/** A DataFlow as somebody wrote it down. */
export interface Flow {
  readonly name: string;
  /** `orders.yaml, line 1`: for messages. */
  readonly at: string;
  readonly spec: unknown;
}

/** The DataFlows of a file or folder. Other objects beside them are left alone. */
export async function readFlows(path: string): Promise<readonly Flow[]> {
  const manifests = await readManifests(path);
  const flows = manifests.filter(({ object }) => object.kind === 'DataFlow').map(flowOf);
  if (flows.length === 0) throw new Error(`there is no DataFlow in ${path}`);
  return flows;
}

const flowOf = ({ object, at }: Manifest): Flow => ({
  name: object.metadata.name,
  at,
  spec: 'spec' in object ? object.spec : undefined,
});
