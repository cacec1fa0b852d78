/** A Nessie that is killed while it is written to: a server of its own, since the others must not suffer. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { startNessie } from '../../../../../tools/nessie/start.ts';
import { connectedSink, message, readAll, sinkConfig, sourceConfig, textsOf } from '../../../test/nessie/fixture.ts';
import { judge } from '../../../test/nessie/pyiceberg.ts';
import { IcebergError } from '../../iceberg/index.ts';

const nessie = await startNessie({ dir: mkdtempSync(join(tmpdir(), 'polder-nessie-')) });
afterAll(() => nessie.stop());

const BATCHES = 30;
const KILLED_AT = new Set([8, 20]);

test('every row is there once, although Nessie was killed while it was written to', async () => {
  const signal = AbortSignal.timeout(280_000);
  const place = nessie.addresses;
  const where = { namespace: 'outage', table: 't' };
  const sink = await connectedSink(sinkConfig(place, { ...where, autoCreateTable: true }), signal);
  let troubles = 0;
  for (let batch = 0; batch < BATCHES; batch++) {
    const messages = [1, 2, 3].map((row) => message({ id: batch * 10 + row }));
    // Killed at any moment of the write, which goes on meanwhile; a pipeline would write the same batch again.
    const outage = KILLED_AT.has(batch) ? nessie.kill().then(() => nessie.restart()) : undefined;
    for (let isWritten = false; !isWritten; ) {
      try {
        expect(await sink.write(messages, signal)).toEqual([]);
        isWritten = true;
      } catch (error) {
        if (!(error instanceof IcebergError)) throw error;
        expect(error.isRetryable).toBe(true);
        troubles++;
        await outage;
      }
    }
    await outage;
  }
  const expected = Array.from({ length: BATCHES }, (_, batch) => [1, 2, 3].map((row) => batch * 10 + row)).flat();
  expect(await judge(place).rows('outage.t')).toEqual(expected.map((id) => ({ id })));
  const texts = textsOf(await readAll(sourceConfig(place, where), signal));
  expect(texts.toSorted()).toEqual(expected.map((id) => `{"id":${id}}`).toSorted());
  expect(troubles).toBeGreaterThan(0);
}, 300_000);
