import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import { getPage } from './page.ts';

let server: Server;
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

async function serve(listener: RequestListener): Promise<string> {
  server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}/metrics`;
}

const { signal } = new AbortController();

test('a page arrives whole, whatever pieces it comes in', async () => {
  const bytes = Buffer.from('up 1 # größer\n');
  const url = await serve((_, answer) => {
    answer.write(bytes.subarray(0, 9));
    answer.end(bytes.subarray(9));
  });
  expect(await getPage(url, signal)).toBe(bytes.toString());
});

test('any other answer is none', async () => {
  const url = await serve((_, answer) => answer.writeHead(302, { location: 'http://elsewhere' }).end());
  await expect(getPage(url, signal)).rejects.toThrow('it answered 302');
});

test('a page that does not end is given up', async () => {
  const url = await serve((_, answer) => {
    const more = () => void answer.write('x'.repeat(1024 * 1024), () => more());
    more();
  });
  await expect(getPage(url, signal)).rejects.toThrow('its page is larger than');
});

test('who is not waited for any longer is let go', async () => {
  const url = await serve((_, answer) => void answer.write('up'));
  const stop = new AbortController();
  const asking = getPage(url, stop.signal);
  stop.abort(new Error('enough'));
  await expect(asking).rejects.toThrow('aborted');
});
