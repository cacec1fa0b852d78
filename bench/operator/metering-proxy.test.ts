import { expect, test } from 'vitest';
import { resourceOf } from './metering-proxy.ts';

test.each([
  ['/api/v1/namespaces/default/configmaps/a?fieldManager=x', 'configmaps'],
  ['/api/v1/pods?watch=true', 'pods'],
  ['/api/v1/namespaces/default', 'namespaces'],
  ['/apis/apps/v1/namespaces/default/deployments', 'deployments'],
  ['/apis/dataflow.dataflow.io/v1/namespaces/default/dataflows/a/status?force=true', 'dataflows/status'],
  ['/apis', '/apis'],
])('%s is about %s', (path, resource) => {
  expect(resourceOf(path)).toBe(resource);
});
