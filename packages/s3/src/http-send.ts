import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { S3Response, Send } from './send.ts';

/**
 * Over sockets. `addressOf` says where `host:port` is from here. Redirects are not followed: nobody sends these requests
 * elsewhere in good faith but AWS, which names the right region in its answer.
 */
export const sendOverHttp =
  (addressOf: (address: string) => string = (address) => address): Send =>
  ({ method, url, headers, body }, signal) => {
    const { protocol, hostname, host, port, pathname, search } = new URL(url);
    const isSecure = protocol === 'https:';
    const to = new URL(`${protocol}//${addressOf(`${hostname}:${port || (isSecure ? 443 : 80)}`)}`);
    const options = {
      method,
      hostname: to.hostname,
      port: to.port,
      path: `${pathname}${search}`,
      headers: { ...headers, host, ...(body && { 'content-length': body.byteLength }) },
      signal,
    };
    return new Promise((resolve, reject) => {
      const answered = (message: IncomingMessage) => resolve(responseOf(message));
      const sent = isSecure
        ? httpsRequest({ ...options, servername: hostname }, answered)
        : httpRequest(options, answered);
      sent.on('error', reject).end(body);
    });
  };

function responseOf(message: IncomingMessage): S3Response {
  const headers = Object.entries(message.headers).map(([name, value]) => [name, String(value)] as const);
  return { status: message.statusCode ?? 0, headers: Object.fromEntries(headers), body: message };
}
