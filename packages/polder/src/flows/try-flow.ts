import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { type Clock, messageOf } from '@polder/kube';
import { readFlows } from './flows.ts';
import { parseInput, Trial } from './try.ts';

export interface TryOptions {
  readonly filename: string;
  readonly envelope: boolean;
  readonly input: Readable;
  /** The name of the input, for messages. */
  readonly inputName: string;
}

/** Sends each line of the input through the transformations of a flow, and tells what would become of it. */
export async function tryFlow(
  options: TryOptions,
  clock: Pick<Clock, 'now'>,
  out: (line: string) => void,
): Promise<void> {
  const [flow, second] = await readFlows(options.filename);
  if (flow === undefined || second !== undefined) {
    throw new Error(`${options.filename} has several DataFlows; give a file with one`);
  }
  const trial = new Trial(flow, clock);
  let number = 0;
  for await (const line of createInterface({ input: options.input, crlfDelay: Number.POSITIVE_INFINITY })) {
    number++;
    try {
      const { payload, metadata } = parseInput(line, options.envelope);
      for (const outcome of trial.run(payload, metadata)) out(JSON.stringify(outcome));
    } catch (error) {
      throw new Error(`${options.inputName}, line ${number}: ${messageOf(error)}`, { cause: error });
    }
  }
}
