import { connect, constants } from 'node:http2';
import type { GRPCAction } from '@polder/kube';
import type { ProbeAnswer } from '../runner.ts';
import { dialError } from './network-error.ts';
import { joined, type ProbeTarget } from './target.ts';

/** `grpc.health.v1.HealthCheckResponse.ServingStatus` */
const STATUS = ['UNKNOWN', 'SERVING', 'NOT_SERVING', 'SERVICE_UNKNOWN'];
const [SERVING, UNIMPLEMENTED, OK] = [1, '12', '0'];

/** `google.rpc.Code`, as Go names them. */
const CODES = [
  ['OK', 'Canceled', 'Unknown', 'InvalidArgument', 'DeadlineExceeded', 'NotFound', 'AlreadyExists', 'PermissionDenied'],
  ['ResourceExhausted', 'FailedPrecondition', 'Aborted', 'OutOfRange', 'Unimplemented', 'Internal', 'Unavailable'],
  ['DataLoss', 'Unauthenticated'],
].flat();

/** Healthy if the health service of the gRPC protocol says that it is serving. */
export async function askGrpc(
  { port, service = '' }: GRPCAction,
  { address }: ProbeTarget,
  timeoutSeconds: number,
  signal: AbortSignal,
): Promise<ProbeAnswer> {
  const authority = joined(address, port);
  const quoted = JSON.stringify(authority);
  const answer = await check(authority, service, signal);
  switch (answer.is) {
    case 'status':
      if (answer.status === SERVING) return { is: 'healthy' };
      return unhealthy(`service unhealthy (responded with "${STATUS[answer.status] ?? answer.status}")`);
    case 'error': {
      const { code, message } = answer;
      if (code === UNIMPLEMENTED) {
        const what = 'the grpc health protocol (grpc.health.v1.Health)';
        return unhealthy(`error: this server does not implement ${what}: ${message}`);
      }
      const named = CODES[Number(code)] ?? `Code(${code})`;
      return unhealthy(`error: health rpc probe failed: rpc error: code = ${named} desc = ${message}`);
    }
    case 'unconnected': {
      if (!signal.aborted) return unhealthy(`error: failed to connect service at ${quoted}: ${answer.why}`);
      const within = `${timeoutSeconds}s: context deadline exceeded`;
      return unhealthy(`timeout: failed to connect service ${quoted} within ${within}`);
    }
    case 'late':
      return unhealthy(`timeout: health rpc did not complete within ${timeoutSeconds}s`);
  }
}

const unhealthy = (because: string): ProbeAnswer => ({ is: 'unhealthy', because });

type Answer =
  | { readonly is: 'status'; readonly status: number }
  | { readonly is: 'error'; readonly code: string; readonly message: string }
  | { readonly is: 'unconnected'; readonly why: string }
  | { readonly is: 'late' };

function check(authority: string, service: string, signal: AbortSignal): Promise<Answer> {
  const { promise, resolve } = Promise.withResolvers<Answer>();
  const session = connect(`http://${authority}`);
  let isConnected = false;
  const stop = () => resolve(isConnected ? { is: 'late' } : { is: 'unconnected', why: 'stopped' });
  const fail = (error: Error) => {
    resolve(
      isConnected
        ? { is: 'error', code: '14', message: error.message }
        : { is: 'unconnected', why: dialError(error, authority) },
    );
  };
  session.once('error', fail);
  // Settings come first on a connection that speaks HTTP/2: a port that only takes connections does not send them.
  session.once('remoteSettings', () => {
    isConnected = true;
    const call = session.request({
      ':method': 'POST',
      ':path': '/grpc.health.v1.Health/Check',
      'content-type': 'application/grpc',
      'user-agent': 'kube-probe/1.36',
      te: 'trailers',
    });
    const pieces: Buffer[] = [];
    let code: string | undefined;
    let message = '';
    const readStatus = (headers: Readonly<Record<string, string | string[] | undefined>>) => {
      if (headers['grpc-status'] === undefined) return;
      code = String(headers['grpc-status']);
      message = decodeURIComponent(String(headers['grpc-message'] ?? ''));
    };
    call.on('response', readStatus);
    call.on('trailers', readStatus);
    call.on('data', (piece: Buffer) => pieces.push(piece));
    call.once('error', fail);
    call.once('end', () => {
      if (code === OK) resolve({ is: 'status', status: servingStatus(Buffer.concat(pieces)) });
      else resolve({ is: 'error', code: code ?? '2', message: code === undefined ? 'no grpc-status' : message });
    });
    call.end(framed(Buffer.from(service)));
  });
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  return promise.finally(() => {
    signal.removeEventListener('abort', stop);
    session.on('error', () => {});
    session.destroy(undefined, constants.NGHTTP2_NO_ERROR);
  });
}

/** `HealthCheckRequest { string service = 1 }` behind the five bytes that begin every message: not compressed, its length. */
function framed(service: Buffer): Buffer {
  const message =
    service.length === 0 ? service : Buffer.concat([Buffer.from([0x0a, ...varint(service.length)]), service]);
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

function varint(value: number): readonly number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...varint(value >>> 7)];
}

/** `HealthCheckResponse { ServingStatus status = 1 }`; a status of 0 is not sent. All values fit into one byte. */
function servingStatus(framedMessage: Buffer): number {
  const message = framedMessage.subarray(5);
  return message[0] === 0x08 ? (message[1] ?? 0) : 0;
}
