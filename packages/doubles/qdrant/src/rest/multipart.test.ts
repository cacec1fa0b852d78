import { expect, test } from 'vitest';
import { fieldOf } from './multipart.ts';

test('the field is found among others, its bytes untouched', async () => {
  const bytes = Uint8Array.from({ length: 512 }, (_, at) => at % 256);
  const form = new FormData();
  form.set('other', 'x');
  form.set('snapshot', new Blob([bytes]), 'file.snapshot');
  const response = new Response(form);
  const type = response.headers.get('content-type') ?? '';
  const body = await response.bytes();
  expect(Buffer.from(fieldOf(body, type, 'snapshot') ?? []).equals(bytes)).toBe(true);
  expect(fieldOf(body, type, 'missing')).toBeUndefined();
  expect(fieldOf(body, 'text/plain', 'snapshot')).toBeUndefined();
});
