import { expect, test } from 'vitest';
import { regionOf } from './region.ts';

test.each([
  ['https://s3.eu-west-1.amazonaws.com', 'eu-west-1'],
  ['https://s3-us-west-2.amazonaws.com', 'us-west-2'],
  ['https://s3.dualstack.ap-south-1.amazonaws.com/', 'ap-south-1'],
  ['https://s3.fr-par.scw.cloud', 'fr-par'],
  ['https://s3.us-west-004.backblazeb2.com', 'us-west-004'],
  ['https://s3.amazonaws.com', 'us-east-1'],
  ['http://minio.storage:9000', 'us-east-1'],
])('the region of %s is %s', (endpoint, region) => {
  expect(regionOf(endpoint)).toBe(region);
});
