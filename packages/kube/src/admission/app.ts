import { Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import type { Clock } from '../clock/index.ts';
import { type Logger, messageOf } from '../log.ts';
import type { Webhook } from './webhook.ts';

export interface AdmissionAppOptions {
  /** By path: `/validate-dataflow`. */
  readonly webhooks: Readonly<Record<string, Webhook>>;
  readonly clock: Clock;
  readonly log: Logger;
  /** Told of what happens, for metrics. */
  readonly on?: AdmissionEvents | undefined;
}

export interface AdmissionEvents {
  started?(path: string): void;
  answered?(path: string, code: number, ms: number): void;
  /** The webhook itself threw. */
  failed?(path: string, review: Webhook['review']): void;
}

/** An object may have 1.5 MB in etcd; a review holds it twice, in JSON, and some more. */
const LARGEST_BODY = 7 * 1024 * 1024;

interface Review {
  readonly apiVersion: string;
  readonly kind: string;
  readonly request: { readonly uid: string };
}

/** The webhooks as one HTTP application; `app.request()` calls it without a socket. Whatever comes in, it answers. */
export function admissionApp({ webhooks, clock, log, on }: AdmissionAppOptions): Hono {
  const app = new Hono();
  const limit = bodyLimit({ maxSize: LARGEST_BODY, onError: (c) => c.text('the body is larger than 7 MB', 413) });
  for (const [path, webhook] of Object.entries(webhooks)) {
    app.use(path, async (c, next) => {
      const startedAt = clock.monotonic();
      on?.started?.(path);
      await next();
      on?.answered?.(path, c.res.status, clock.monotonic() - startedAt);
    });
    app.post(path, limit, async (c) => {
      if (!/^application\/json\b/.test(c.req.header('content-type') ?? '')) {
        return c.text('only application/json is understood', 415);
      }
      const review = parsed(await c.req.text());
      if (!review) return c.text(`the body is no ${webhook.review}`, 400);
      const { apiVersion, kind, request } = review;
      if (apiVersion !== webhook.apiVersion || kind !== webhook.review) {
        return c.text(`${path} takes ${webhook.apiVersion} ${webhook.review}, not ${apiVersion} ${kind}`, 400);
      }
      return c.json({ apiVersion, kind, response: await answered(path, webhook, request) });
    });
    app.all(path, (c) => c.text('only POST is understood', 405, { allow: 'POST' }));
  }
  return app;

  async function answered(path: string, webhook: Webhook, request: Review['request']): Promise<object> {
    try {
      return await webhook.answer(request);
    } catch (error) {
      on?.failed?.(path, webhook.review);
      log.error({ path, uid: request.uid, error: messageOf(error) }, 'webhook failed');
      return webhook.failed(request.uid, `the webhook ${path} failed: ${messageOf(error)}`);
    }
  }
}

function parsed(text: string): Review | undefined {
  try {
    const review: Partial<Review> | null = JSON.parse(text);
    const { apiVersion, kind, request } = review ?? {};
    if (typeof apiVersion !== 'string' || typeof kind !== 'string' || typeof request?.uid !== 'string')
      return undefined;
    return { apiVersion, kind, request };
  } catch {
    return undefined;
  }
}
