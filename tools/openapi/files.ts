import type { Api } from './api.ts';
import { definitionFiles, kindFacts } from './documents.ts';
import { builtinKinds } from './kinds.ts';
import { EMBEDDED_TYPES } from './served.ts';
import { coreSchemas } from './structural.ts';
import { coreTypes } from './types.ts';

export const DEFINITIONS = 'packages/embedded/src/apiserver/openapi';

/** Everything that is derived from a server's API, by path from the root of the repository. */
export function generatedFiles(api: Api): ReadonlyMap<string, string> {
  return new Map([
    ...[...definitionFiles(api)].map(([name, text]) => [`${DEFINITIONS}/${name}`, text] as const),
    ['packages/embedded/src/apiserver/builtin/facts.gen.ts', kindFacts(api)],
    ['packages/kube/src/kinds/core.gen.ts', coreTypes(api)],
    ['packages/kube/src/kinds/builtin.gen.ts', builtinKinds(api)],
    ['packages/kube/src/kinds/core-schemas.gen.ts', coreSchemas(api, EMBEDDED_TYPES)],
  ]);
}
