import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { createServer as createHttp2Server, type ServerHttp2Stream } from 'node:http2';
import { createServer as createHttpsServer } from 'node:https';
import { createServer as createTcpServer, type Server } from 'node:net';
import { createAuthority, type Probe } from '@polder/kube';
import { afterEach, describe, expect, test } from 'vitest';
import { ask, type ProbeTarget } from './index.ts';

const ADDRESS = '127.0.0.1';
const leaving: (() => void)[] = [];
afterEach(() => {
  for (const leave of leaving.splice(0)) leave();
});

function listening(server: Server): Promise<number> {
  const sockets = new Set<{ destroy(): void }>();
  server.on('connection', (socket) => sockets.add(socket));
  leaving.push(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return new Promise((resolve) => {
    server.listen(0, ADDRESS, () => {
      const address = server.address();
      if (address !== null && typeof address === 'object') resolve(address.port);
    });
  });
}

const serving = (listener: RequestListener) => listening(createHttpServer(listener));

/** A port on which nobody listens. */
async function freePort(): Promise<number> {
  const server = createTcpServer();
  const port = await listening(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}

const target: ProbeTarget = {
  container: { name: 'c' },
  address: ADDRESS,
  exec: () => Promise.reject(new Error('not to be called')),
};

const asked = (probe: Probe, signal = new AbortController().signal, whom: ProbeTarget = target) =>
  ask(probe, whom, signal);
const healthy = { is: 'healthy' };
const because = (text: string) => ({ is: 'unhealthy', because: text });

describe('httpGet', () => {
  test.each([
    [200, healthy],
    [204, healthy],
    [302, healthy],
    [399, healthy],
    [400, because('HTTP probe failed with statuscode: 400')],
    [503, because('HTTP probe failed with statuscode: 503')],
  ])('status %i', async (status, answer) => {
    const port = await serving((_, response) => response.writeHead(status).end('a body that is no part of the answer'));
    expect(await asked({ httpGet: { port } })).toEqual(answer);
  });

  test('asks for the path with the headers of the probe', async () => {
    const seen: unknown[] = [];
    const port = await serving(({ method, url, headers, rawHeaders }, response) => {
      seen.push([method, url, headers.host, headers['user-agent'], headers.accept, rawHeaders.includes('X-A')]);
      response.end();
    });
    await asked({ httpGet: { port, path: '/a b?c=d#e' } });
    const httpHeaders = [
      { name: 'Host', value: 'shop.example' },
      { name: 'User-Agent', value: 'mine' },
      { name: 'Accept', value: '' },
    ];
    await asked({ httpGet: { port, path: 'x', httpHeaders } });
    expect(seen).toEqual([
      ['GET', '/a%20b?c=d', `${ADDRESS}:${port}`, 'kube-probe/1.36', '*/*', false],
      ['GET', '/x', 'shop.example', 'mine', undefined, false],
    ]);
  });

  test('a port can be named as the container names it', async () => {
    const port = await serving((_, response) => response.end());
    const container = { name: 'c', ports: [{ name: 'web', containerPort: port }] };
    const named = { ...target, container };
    expect(await ask({ httpGet: { port: 'web' } }, named, new AbortController().signal)).toEqual(healthy);
    expect(await asked({ httpGet: { port: String(port) } })).toEqual(healthy);
    expect(await asked({ httpGet: { port: 'none' } })).toEqual(because('strconv.Atoi: parsing "none": invalid syntax'));
  });

  test('a redirect is followed on the same host, and is an answer when it leads away', async () => {
    const port = await serving(({ url }, response) => {
      if (url === '/here') response.writeHead(302, { location: '/broken' }).end();
      else if (url === '/away') response.writeHead(302, { location: 'http://away.invalid/' }).end();
      else if (url === '/round') response.writeHead(302, { location: '/round' }).end();
      else response.writeHead(500).end();
    });
    const path = (path: string) => asked({ httpGet: { port, path } });
    expect(await path('/here')).toEqual(because('HTTP probe failed with statuscode: 500'));
    expect(await path('/away')).toEqual(healthy);
    expect(await path('/round')).toEqual(because(`Get "http://${ADDRESS}:${port}/round": stopped after 10 redirects`));
  });

  test('https is not verified', async () => {
    const now = Date.UTC(2000, 0, 1);
    const { certificate, key } = await createAuthority({ name: 'nobody, long ago', validMs: 1, now });
    const port = await listening(createHttpsServer({ cert: certificate, key }, (_, response) => response.end()));
    expect(await asked({ httpGet: { port, scheme: 'HTTPS' } })).toEqual(healthy);
  });

  test('a port on which nobody listens', async () => {
    const port = await freePort();
    const address = `${ADDRESS}:${port}`;
    const text = `Get "http://${address}/": dial tcp ${address}: connect: connection refused`;
    expect(await asked({ httpGet: { port } })).toEqual(because(text));
  });

  test('a server that closes without a word', async () => {
    const port = await serving(({ socket }) => socket.destroy());
    expect(await asked({ httpGet: { port } })).toEqual(because(`Get "http://${ADDRESS}:${port}/": EOF`));
  });

  test('plain HTTP where https is asked for', async () => {
    const port = await serving((_, response) => response.end());
    const text = `Get "https://${ADDRESS}:${port}/": http: server gave HTTP response to HTTPS client`;
    expect(await asked({ httpGet: { port, scheme: 'HTTPS' } })).toEqual(because(text));
  });

  test('a server that does not answer in time, or does not finish', async () => {
    const timeout = new AbortController();
    const port = await serving(() => timeout.abort());
    const silent = `Get "http://${ADDRESS}:${port}/": context deadline exceeded (Client.Timeout exceeded while awaiting headers)`;
    expect(await asked({ httpGet: { port } }, timeout.signal)).toEqual(because(silent));

    const later = new AbortController();
    const begins = await serving((_, response) => response.write('begun', () => setImmediate(() => later.abort())));
    expect(await asked({ httpGet: { port: begins } }, later.signal)).toMatchObject({ is: 'unhealthy' });
  });

  test('a body without end is not waited for', async () => {
    const port = await serving((_, response) => response.write('x'.repeat(100_000)));
    expect(await asked({ httpGet: { port } })).toEqual(healthy);
  });
});

describe('tcpSocket', () => {
  test('who takes a connection is healthy', async () => {
    const port = await listening(createTcpServer());
    expect(await asked({ tcpSocket: { port } })).toEqual(healthy);
  });

  test('who does not is not', async () => {
    const port = await freePort();
    const text = `dial tcp ${ADDRESS}:${port}: connect: connection refused`;
    expect(await asked({ tcpSocket: { port } })).toEqual(because(text));
    expect(await asked({ tcpSocket: { port: 80 } }, AbortSignal.abort())).toEqual(
      because(`dial tcp ${ADDRESS}:80: i/o timeout`),
    );
  });
});

describe('exec', () => {
  const probe = { exec: { command: ['check', '$(LEVEL)'] } };
  const container = { name: 'c', env: [{ name: 'LEVEL', value: 'all' }] };
  const answering = (exitCode: number, output = '') => {
    const commands: (readonly string[])[] = [];
    const exec = async (command: readonly string[]) => {
      commands.push(command);
      return { exitCode, output };
    };
    return { commands, whom: { ...target, container, exec } };
  };

  test('0 is healthy; with anything else the output is the reason', async () => {
    const { commands, whom } = answering(0);
    expect(await asked(probe, undefined, whom)).toEqual(healthy);
    expect(commands).toEqual([['check', 'all']]);
    expect(await asked(probe, undefined, answering(1, 'no disk\n').whom)).toEqual(because('no disk\n'));
    const { is, ...rest } = await asked(probe, undefined, answering(1, 'x'.repeat(99_999)).whom);
    expect([is, 'because' in rest && rest.because.length]).toEqual(['unhealthy', 10240]);
  });

  test('a command that takes too long, or that is not there', async () => {
    const timeout = new AbortController();
    const exec = (_: readonly string[], signal: AbortSignal) =>
      new Promise<never>((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    const late = asked({ ...probe, timeoutSeconds: 3 }, timeout.signal, { ...target, container, exec });
    timeout.abort();
    expect(await late).toEqual(because('command timed out: "check all" timed out after 3s'));
    expect(await asked(probe)).toEqual(because('not to be called'));
  });
});

describe('grpc', () => {
  const health = (answer: (stream: ServerHttp2Stream, body: Buffer) => void): Promise<number> => {
    const server = createHttp2Server();
    server.on('stream', (stream, headers) => {
      expect(headers[':path']).toBe('/grpc.health.v1.Health/Check');
      const pieces: Buffer[] = [];
      stream.on('data', (piece: Buffer) => pieces.push(piece));
      stream.on('end', () => answer(stream, Buffer.concat(pieces)));
    });
    return listening(server);
  };
  const withStatus = (message: readonly number[], trailers: Record<string, string>) => (stream: ServerHttp2Stream) => {
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
    stream.once('wantTrailers', () => stream.sendTrailers(trailers));
    stream.end(Buffer.from([0, 0, 0, 0, message.length, ...message]));
  };

  test.each<[readonly number[], object]>([
    [[0x08, 1], healthy],
    [[0x08, 2], because('service unhealthy (responded with "NOT_SERVING")')],
    [[], because('service unhealthy (responded with "UNKNOWN")')],
  ])('the answer %j', async (message, answer) => {
    const port = await health(withStatus(message, { 'grpc-status': '0' }));
    expect(await asked({ grpc: { port } })).toEqual(answer);
  });

  test('the service is named in the question', async () => {
    const bodies: Buffer[] = [];
    const port = await health((stream, body) => {
      bodies.push(body);
      withStatus([0x08, 1], { 'grpc-status': '0' })(stream);
    });
    const service = 'x'.repeat(200);
    await asked({ grpc: { port, service } });
    expect(bodies[0]).toEqual(Buffer.concat([Buffer.from([0, 0, 0, 0, 203, 0x0a, 0xc8, 0x01]), Buffer.from(service)]));
  });

  test('errors of the server', async () => {
    const none = await health((stream) => {
      const headers = { 'grpc-status': '12', 'grpc-message': 'unknown%20service' };
      stream.respond({ ':status': 200, 'content-type': 'application/grpc', ...headers }, { endStream: true });
    });
    const text =
      'error: this server does not implement the grpc health protocol (grpc.health.v1.Health): unknown service';
    expect(await asked({ grpc: { port: none } })).toEqual(because(text));
    const unknown = await health(withStatus([], { 'grpc-status': '5', 'grpc-message': 'no such' }));
    const notFound = 'error: health rpc probe failed: rpc error: code = NotFound desc = no such';
    expect(await asked({ grpc: { port: unknown } })).toEqual(because(notFound));
  });

  test('nobody there, nobody who speaks HTTP/2, nobody who answers in time', async () => {
    const port = await freePort();
    const refused = `error: failed to connect service at "${ADDRESS}:${port}": dial tcp ${ADDRESS}:${port}: connect: connection refused`;
    expect(await asked({ grpc: { port } })).toEqual(because(refused));

    const dead = new AbortController();
    const silent = await listening(createTcpServer((socket) => socket.once('data', () => dead.abort())));
    const within = `timeout: failed to connect service "${ADDRESS}:${silent}" within 2s: context deadline exceeded`;
    expect(await asked({ grpc: { port: silent }, timeoutSeconds: 2 }, dead.signal)).toEqual(because(within));

    const slow = new AbortController();
    const never = await health(() => slow.abort());
    const late = 'timeout: health rpc did not complete within 1s';
    expect(await asked({ grpc: { port: never } }, slow.signal)).toEqual(because(late));
  });
});
