import { type Client, type Clock, type Logger, messageOf, withTimeout } from '@polder/kube';
import { type Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { type Answer, invalid } from './answer.ts';
import { tokenCheck } from './authentication.ts';
import { bodyOf, LARGEST_BODY, tooLarge } from './body.ts';
import { isNamespace } from './call.ts';
import { type Endpoint, endpoints } from './endpoints.ts';
import { refusalOf } from './refusal.ts';

export interface ApiOptions {
  readonly client: Client;
  /** What callers have to know. */
  readonly token: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** The only ones that can be spoken of; all without it. */
  readonly namespaces?: readonly string[] | undefined;
  /** After so long without an answer of the API server a call fails. */
  readonly timeoutMs: number;
}

/** Any page may call if its user has the token: there is no cookie that a browser would send along by itself. */
const CORS = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Allow-Methods': 'GET, POST, PUT, DELETE, OPTIONS',
  'Access-Control-Allow-Headers': 'Content-Type, Authorization',
};

/**
 * The control-plane API, as upstream has it: collections, their backups and restores, and templates over HTTP. It only reads
 * and writes custom resources; what becomes of them is up to their controllers. `app.request()` calls it without a socket.
 */
export function qdrantApi(options: ApiOptions): Hono {
  const app = new Hono({ strict: false });
  const limit = bodyLimit({ maxSize: LARGEST_BODY, onError: (c) => send(c, tooLarge) });
  const objection = tokenCheck(options.token);
  app.use(async (c, next) => {
    for (const [name, value] of Object.entries(CORS)) c.header(name, value);
    if (c.req.method === 'OPTIONS') return c.body(null, 200);
    return next();
  });
  app.get('/health', (c) => c.json({ status: 'ok', service: 'api' }));
  app.use('/api/v1/*', async (c, next) => {
    const message = objection(c.req.header('authorization'));
    if (message === undefined) return next();
    return send(c, { status: 401, body: { error: 'Unauthorized', message } });
  });
  for (const endpoint of endpoints) {
    app.on(endpoint.method, `/api/v1${endpoint.path}`, limit, async (c) =>
      send(c, await answerTo(c, endpoint, options)),
    );
  }
  app.notFound((c) => send(c, { status: 404, body: { error: 'Not found', path: c.req.path } }));
  app.onError((error, c) => {
    options.log.error({ path: c.req.path, error: messageOf(error) }, 'a call of the Qdrant API failed');
    return send(c, {
      status: 500,
      body: { error: 'Internal server error', message: 'the log of the operator says why' },
    });
  });
  return app;
}

const send = (c: Context, { status, body }: Answer) => c.json(body, status);

async function answerTo(c: Context, endpoint: Endpoint, options: ApiOptions): Promise<Answer> {
  const { client, clock, log, timeoutMs } = options;
  const name = c.req.param('name') ?? '';
  const sent = endpoint.method === 'POST' ? await bodyOf(c) : { is: 'read' as const, value: {} };
  if (sent.is === 'refused') return sent.answer;
  const namespace = c.req.query('namespace') || 'default';
  const refusal = endpoint.about === 'namespace' ? refusalOfNamespace(namespace, options.namespaces) : undefined;
  if (refusal) return refusal;
  const { task } = endpoint;
  try {
    return await withTimeout(clock, timeoutMs, undefined, task, (signal) =>
      endpoint.answer({ client, namespace, signal, now: clock.now() }, { name, body: sent.value }),
    );
  } catch (error) {
    const answer = refusalOf(error, task);
    if (!answer) throw error;
    if (answer.status >= 500 || answer.status === 403)
      log.error({ namespace, name, error: messageOf(error) }, `could not ${task}`);
    return answer;
  }
}

/** What an operator does not look after would never come to life. */
function refusalOfNamespace(namespace: string, own: readonly string[] | undefined): Answer | undefined {
  if (!isNamespace(namespace)) return invalid([`namespace is ${JSON.stringify(namespace)}, which is no name of one`]);
  if (own === undefined || own.includes(namespace)) return undefined;
  const message = `the operator does not look after the namespace ${namespace}; name one of: ${own.join(', ')}`;
  return { status: 403, body: { error: 'Forbidden', message } };
}
