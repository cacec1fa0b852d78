import { type Served, Storage, serve } from '@polder/doubles/s3';
import { systemClock } from '@polder/kube';
import { afterAll, beforeAll, describe } from 'vitest';
import { Bucket, type Send, sendOverHttp } from '../src/index.ts';
import { bucketContract, type Setting } from './contract.ts';

const credentials = { accessKey: 'polder', secretAccessKey: 'a secret' };

function settingOf(storage: Storage, endpoint: string, send: Send): Setting {
  return {
    credentials,
    moreThanAPage: 5,
    uploads: async () => storage.uploadsIn('lake'),
    bucket: ({ credentials: others = credentials, name = 'lake' } = {}) =>
      new Bucket({ endpoint, bucket: name, credentials: others, send, clock: systemClock }),
  };
}

const aStorage = () =>
  new Storage({ clock: systemClock, buckets: ['lake'], keys: { polder: 'a secret' }, pageSize: 2 });

describe('the stand-in, without sockets', () => {
  const storage = aStorage();
  bucketContract(() => settingOf(storage, 'http://s3.storage:9000', storage.send));
});

describe('the stand-in, as a server', () => {
  const storage = aStorage();
  let served: Served;
  beforeAll(async () => {
    served = await serve(storage);
  });
  afterAll(() => served.close());
  bucketContract(() => settingOf(storage, served.endpoint, sendOverHttp()));
});
