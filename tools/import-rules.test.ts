import { expect, test } from 'vitest';
import { violationsIn } from './import-rules.ts';

const importing = (specifier: string) => `import { thing } from '${specifier}';\n`;

test('a room may import what stands below it', () => {
  expect(violationsIn('packages/embedded/src/apiserver/wire.ts', importing('@polder/kube'))).toEqual([]);
  expect(violationsIn('packages/polder/src/main.ts', importing('@polder/embedded/apiserver'))).toEqual([]);
});

test('a room that imports upwards is refused', () => {
  expect(violationsIn('packages/kube/src/client/index.ts', importing('@polder/embedded'))).toHaveLength(1);
});

test('a room that imports sideways is refused', () => {
  expect(violationsIn('packages/qdrant/src/index.ts', importing('@polder/opensearch'))).toHaveLength(1);
  expect(violationsIn('packages/embedded/src/a.ts', importing('../../kube/src/index.ts'))).toHaveLength(1);
});

test('reaching past the public face of a package is refused', () => {
  expect(violationsIn('packages/polder/src/main.ts', importing('@polder/kube/client/verbs.ts'))).toHaveLength(1);
});

test('imports over several lines, re-exports, bare and dynamic imports are seen', () => {
  const file = 'packages/kube/src/index.ts';
  expect(violationsIn(file, "import {\n  a,\n  b,\n} from '@polder/embedded';\n")).toHaveLength(1);
  expect(violationsIn(file, "export * from '@polder/embedded';\n")).toHaveLength(1);
  expect(violationsIn(file, "import '@polder/embedded';\n")).toHaveLength(1);
  expect(violationsIn(file, "const x = await import('@polder/embedded');\n")).toHaveLength(1);
});

test('a test may use the embedded server, the code it tests may not', () => {
  expect(violationsIn('packages/kube/src/cache/cache.test.ts', importing('@polder/embedded'))).toEqual([]);
  expect(violationsIn('packages/kube/src/cache/cache.ts', importing('@polder/embedded'))).toHaveLength(1);
});
