import type { ConfigMap } from '@polder/kube';
import type { DataFlow } from '../kinds/index.ts';
import { identityOf, namesOf } from './identity.ts';
import type { SpecFiles } from './spec-files.ts';

export const SPEC_FILE = 'spec.json';

export function specConfigMap(flow: DataFlow, { spec }: SpecFiles): ConfigMap {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: identityOf(flow, namesOf(flow).spec),
    data: { [SPEC_FILE]: spec },
  };
}
