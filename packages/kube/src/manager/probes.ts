import { Hono } from 'hono';
import { messageOf } from '../log.ts';

/** Throws or rejects with what is wrong. */
export type Check = () => void | Promise<void>;

export interface Checks {
  /** Should the process be restarted? Never because the API server is away: a restart would not bring it back. */
  readonly live: Readonly<Record<string, Check>>;
  /** Can it do its work? Not: is it the leader. A standby is ready too, or a rollout would never end. */
  readonly ready: Readonly<Record<string, Check>>;
}

/** `/healthz`, `/readyz`, `/readyz/NAME`; with `?verbose` a line for each check, with `?exclude=NAME` without that one. */
export function probes(checks: Checks): Hono {
  const app = new Hono();
  for (const [path, group] of [['/healthz', checks.live] as const, ['/readyz', checks.ready] as const]) {
    app.get(path, async (context) => {
      const excluded = context.req.queries('exclude') ?? [];
      const results = await Promise.all(
        Object.entries(group)
          .filter(([name]) => !excluded.includes(name))
          .map(async ([name, check]) => ({ name, trouble: await troubleWith(check) })),
      );
      const isOk = results.every(({ trouble }) => trouble === undefined);
      if (isOk && context.req.query('verbose') === undefined) return context.text('ok');
      const lines = results.map(({ name, trouble }) =>
        trouble === undefined ? `[+]${name} ok` : `[-]${name} failed: ${trouble}`,
      );
      return context.text(
        `${lines.join('\n')}\n${path.slice(1)} check ${isOk ? 'passed' : 'failed'}\n`,
        isOk ? 200 : 500,
      );
    });
    app.get(`${path}/:name`, async (context) => {
      const check = group[context.req.param('name')];
      if (!check) return context.text(`there is no check ${context.req.param('name')}\n`, 404);
      const trouble = await troubleWith(check);
      return trouble === undefined ? context.text('ok') : context.text(`${trouble}\n`, 500);
    });
  }
  return app;
}

async function troubleWith(check: Check): Promise<string | undefined> {
  try {
    await check();
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}
