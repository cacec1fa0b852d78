/** `make check`: the static part of the tests, all of it at once; what failed is printed whole, what passed in a line. */
import { execFile } from 'node:child_process';
import { globSync } from 'node:fs';
import { violationsAmong } from './import-rules.ts';

const commands = {
  types: ['tsc', '--pretty', 'false'],
  lint: ['oxlint', '--type-aware', '--deny-warnings'],
  format: ['biome', 'ci', '--colors=off', '--max-diagnostics=50'],
};

function command(name: string, [program = '', ...args]: readonly string[]): Promise<boolean> {
  return new Promise((resolve) => {
    execFile(`node_modules/.bin/${program}`, args, { maxBuffer: 1 << 26 }, (error, stdout, stderr) => {
      console.log(error === null ? `ok      ${name}` : `FAILED  ${name}\n${stdout}${stderr}`);
      resolve(error === null);
    });
  });
}

function importRules(): boolean {
  const files = globSync('{packages,examples,bench,tools}/**/*.ts', {
    exclude: (path) => path.includes('node_modules'),
  });
  const violations = violationsAmong(files);
  console.log(violations.length === 0 ? 'ok      import rules' : 'FAILED  import rules');
  for (const { file, imports, because } of violations) console.log(`${file}: imports '${imports}': ${because}`);
  return violations.length === 0;
}

const results = await Promise.all(Object.entries(commands).map(([name, line]) => command(name, line)));
process.exitCode = [...results, importRules()].every(Boolean) ? 0 : 1;
