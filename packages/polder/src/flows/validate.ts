import { describeError, validate } from '@polder/engine/spec';
import { messageOf } from '@polder/kube';
import { readFlows } from './flows.ts';

export interface Said {
  readonly out: (line: string) => void;
  readonly err: (line: string) => void;
}

/** Tells everything that is wrong with the DataFlows of these files; false if there is anything. */
export async function validateFlows(paths: readonly string[], { out, err }: Said): Promise<boolean> {
  let isValid = true;
  for (const path of paths) {
    try {
      for (const { name, at, spec } of await readFlows(path)) {
        const { errors, warnings } = validate(spec);
        for (const error of errors) err(`${at}: DataFlow ${name}: ${describeError(error)}`);
        for (const warning of warnings) err(`${at}: DataFlow ${name}: warning: ${warning}`);
        if (errors.length === 0) out(`${at}: DataFlow ${name} is valid`);
        else isValid = false;
      }
    } catch (error) {
      err(messageOf(error));
      isValid = false;
    }
  }
  return isValid;
}
