import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { tryFlow, validateFlows } from '../../src/flows/index.ts';
import type { Fence, Page } from './page.ts';

/** Transformations, what goes into them and what comes out, as a page shows it. */
export interface Example {
  readonly at: string;
  readonly transformations: string;
  readonly input: Fence;
  readonly output: Fence;
}

/** An example is three blocks in a row: `yaml`, `… input` or `… envelope`, and `… output` or `… try`. */
export function examplesOf({ path, fences }: Page): readonly Example[] {
  return fences.flatMap((fence, index) => {
    if (!fence.text.startsWith('transformations:')) return [];
    const at = `${path}, line ${fence.line}`;
    const [input, output] = [fences[index + 1], fences[index + 2]];
    const isInput = input?.role === 'input' || input?.role === 'envelope';
    const isOutput = output?.role === 'output' || output?.role === 'try';
    if (!isInput || !isOutput) throw new Error(`${at}: an example has a block of input and one of output`);
    return [{ at, transformations: fence.text, input, output }];
  });
}

/** When the examples happen. */
const clock = { now: () => Date.parse('2026-03-01T12:00:00.120Z') };

/** The lines of `polder try`, or of the payloads alone where the page shows only those. */
export async function outputOf({ transformations, input, output }: Example): Promise<readonly string[]> {
  return withFile(flowWith(transformations), async (filename) => {
    const lines: string[] = [];
    const options = { filename, envelope: input.role === 'envelope', input: Readable.from(`${input.text}\n`) };
    await tryFlow({ ...options, inputName: 'input' }, clock, (line) => void lines.push(line));
    return output.role === 'try' ? lines : lines.flatMap(payloadOf);
  });
}

/** Of what goes to the main sink. What is dropped has none; what fails is not to be hidden in an example. */
function payloadOf(line: string): readonly string[] {
  const { data, to, error }: { data: string; to: string; error?: string } = JSON.parse(line);
  if (to === 'dropped') return [];
  return [to === 'main' ? data : `${to}: ${error ?? data}`];
}

/** Everything that `polder validate` has to say against a manifest, warnings included. */
export const problemsOf = (manifest: string): Promise<readonly string[]> =>
  withFile(manifest, async (filename) => {
    const problems: string[] = [];
    await validateFlows([filename], { out: () => undefined, err: (line) => void problems.push(line) });
    return problems;
  });

/** A flow with these fields beside its source and its sink. */
export const flowWith = (fields: string): string =>
  `apiVersion: dataflow.dataflow.io/v1
kind: DataFlow
metadata: { name: example }
spec:
  source: { type: kafka, config: { brokers: [kafka:9092], topic: in, consumerGroup: example } }
  sink: { type: kafka, config: { brokers: [kafka:9092], topic: out } }
${fields.replaceAll(/^/gm, '  ')}
`;

async function withFile<T>(text: string, use: (filename: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'polder-docs-'));
  try {
    const filename = join(folder, 'flow.yaml');
    await writeFile(filename, text);
    return await use(filename);
  } finally {
    await rm(folder, { recursive: true });
  }
}
