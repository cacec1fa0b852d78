import type { World } from '@polder/kube';
import { QdrantCollection, type QdrantCollectionTemplate } from '../kinds/index.ts';
import { TEMPLATE_LABEL } from './names.ts';

export interface Observed {
  /** The collections that were made from it, of all namespaces. */
  readonly collections: readonly QdrantCollection[];
}

export async function observeTemplate({ metadata }: QdrantCollectionTemplate, { cluster }: World): Promise<Observed> {
  const all = await cluster.list(QdrantCollection);
  return { collections: all.filter((one) => one.metadata.labels?.[TEMPLATE_LABEL] === metadata.name) };
}
