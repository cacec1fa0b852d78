import type { Environment } from '@marcbachmann/cel-js';

/** `sets.contains(…)`: a constant whose methods are the functions. Returns the receiver to put into signatures. */
export function registerNamespace(env: Environment, name: string): string {
  const type = `${name}Namespace`;
  const Namespace = class {
    readonly name = name;
  };
  env.registerType(type, { ctor: Namespace });
  env.registerConstant(name, type, new Namespace());
  return type;
}
