import { Environment } from '@marcbachmann/cel-js';
import { regularExpression } from '../schema/regular-expression.ts';
import { registerFormat } from './libraries/format.ts';
import { registerIp } from './libraries/ip.ts';
import { registerLists } from './libraries/lists.ts';
import { HAS, registerMacros } from './libraries/macros.ts';
import { registerQuantity } from './libraries/quantity.ts';
import { registerRegex } from './libraries/regex.ts';
import { registerSemver } from './libraries/semver.ts';
import { registerSets } from './libraries/sets.ts';
import { registerStrings } from './libraries/strings.ts';
import { registerUrl } from './libraries/url.ts';

const MATCHES = 're2test';

/** The library does not let go of its own functions: expressions call ours under another name of the same length. */
export const RENAMED: Readonly<Record<string, string>> = { has: HAS, matches: MATCHES };

const matches = (text: string, pattern: string) => regularExpression(pattern).test(text);

function kubernetesEnvironment(): Environment {
  const env = new Environment({
    enableOptionalTypes: true,
    unlistedVariablesAreDyn: false,
    // `format` takes lists of different types; the library cannot make an exception for it alone.
    homogeneousAggregateLiterals: false,
  });
  env.registerFunction(`string.${MATCHES}(string): bool`, matches);
  env.registerFunction(`${MATCHES}(string, string): bool`, matches);
  const libraries = [
    registerFormat,
    registerIp,
    registerLists,
    registerMacros,
    registerQuantity,
    registerRegex,
    registerSemver,
    registerSets,
    registerStrings,
    registerUrl,
  ];
  for (const register of libraries) register(env);
  return env;
}

let base: Environment | undefined;

/** CEL as the API server has it. Each call gives one of its own to declare variables in. */
export function newEnvironment(): Environment {
  base ??= kubernetesEnvironment();
  return base.clone();
}
