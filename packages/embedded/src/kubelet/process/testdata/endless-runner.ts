/**
 * A program that starts containers without end, two at a time, and tells how many. Some of them end by themselves. To be
 * killed: `node endless-runner.ts FOLDER MARK`, where MARK is on the command line of everything that the containers run.
 */
import { type Pod, systemClock } from '@polder/kube';
import { ProcessRunner } from '../process-runner.ts';

const [, , folder = '', mark = ''] = process.argv;
const runner = new ProcessRunner({ folder, path: '/usr/local/bin:/usr/bin:/bin', clock: systemClock });

async function launch(run: number) {
  const name = `c${run}`;
  const pod: Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', uid: 'u' },
    spec: { containers: [{ name }] },
  };
  const script = run % 3 === 0 ? 'exit 0' : 'sleep "$0" & sleep "$0" & wait';
  const container = await runner.start({
    pod,
    container: { name },
    restartCount: 0,
    address: '127.0.0.1',
    env: new Map(),
    command: ['sh', '-c', script, mark],
    args: undefined,
    changed: () => {},
  });
  if (run % 3 === 0) await container.ended;
  else if (run % 5 === 0) void container.exec(['sleep', mark], new AbortController().signal).catch(() => {});
}

for (let run = 0; run < 400; run += 2) {
  await Promise.all([launch(run), launch(run + 1)]);
  process.stdout.write(`${run + 2}\n`);
}
