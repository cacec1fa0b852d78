import type { Pod } from '@polder/kube';
import type { PodLogs } from '../apiserver/index.ts';
import { badRequest } from '../apiserver/status.ts';
import type { Runner } from './runner.ts';

/** Where a pod says how it is run. */
export const RUNNER_ANNOTATION = 'polder.io/runner';

/** Which images run how. The first rule that matches decides; the program hands the table in. */
export interface ImageRule {
  /** An image name with or without its tag; `*` stands for anything: `qdrant/*`, `*`. */
  readonly images: string;
  readonly runner: Runner;
}

/** A pod runs as its first container does: containers of one pod share volumes and an address. */
export function runnerOf({ spec }: Pod, table: readonly ImageRule[]): Runner {
  const image = spec?.containers[0]?.image ?? '';
  const rule = table.find(({ images }) => matches(images, image));
  if (rule === undefined) throw new Error(`no rule of the image table matches ${image}; end the table with '*'`);
  return rule.runner;
}

/** Whether an image is meant by a pattern of the table. */
export function matches(pattern: string, image: string): boolean {
  const expression = new RegExp(
    `^${pattern
      .split('*')
      .map((part) => RegExp.escape(part))
      .join('.*')}$`,
  );
  // The tag or digest follows the last colon or @ behind the last slash: a registry's port is none.
  const [, untagged = image] = /^(.*?)(?:@[^/]*|:[^/]*)?$/.exec(image) ?? [];
  return expression.test(image) || expression.test(untagged);
}

/** The logs of a pod are with the runner that it says it has. */
export function logsBy(table: readonly ImageRule[]): PodLogs {
  return (request) => {
    const name = request.pod.metadata.annotations?.[RUNNER_ANNOTATION];
    const runner = table.find((rule) => rule.runner.name === name)?.runner;
    if (runner === undefined) {
      const { name: pod } = request.pod.metadata;
      throw badRequest(`container "${request.container}" in pod "${pod}" is waiting to start: ContainerCreating`);
    }
    return runner.logs(request);
  };
}
