import { systemClock } from '@polder/kube';
import { describe, inject } from 'vitest';
import { Bucket, sendOverHttp, signedHeaders } from '../src/index.ts';
import { bucketContract } from './contract.ts';

describe('a real S3 server', () => {
  const { s3Endpoint: endpoint, s3Region: region, accessKey, secretAccessKey } = inject('s3');
  const credentials = { accessKey, secretAccessKey };
  bucketContract(() => ({
    credentials,
    moreThanAPage: 1_001,
    bucket: ({ credentials: others = credentials, name = 'lake' } = {}) =>
      new Bucket({ endpoint, region, bucket: name, credentials: others, send: sendOverHttp(), clock: systemClock }),
    uploads: async () => {
      const url = new URL(`${endpoint}/lake?uploads`);
      const scope = { credentials, region, service: 's3', now: Date.now() };
      const headers = signedHeaders({ method: 'GET', url, headers: {}, body: new Uint8Array() }, scope);
      const text = await (await fetch(url, { headers })).text();
      return [...text.matchAll(/<Upload>[^]*?<Key>(.*?)<\/Key>/g)].map(([, key = '']) => key);
    },
  }));
});
