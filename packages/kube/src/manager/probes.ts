import { Hono } from 'hono';
import { messageOf } from '../log.ts';

/** Throws or rejects with what is wrong, or with what it is `Waiting` for. */
export type Check = () => void | Promise<void>;

/** What is waited for may never come: the others are judged without it. But where all wait, nobody is well. */
export class Waiting extends Error {
  override readonly name = 'Waiting';
}

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
      const counted = results.filter(({ trouble }) => !(trouble instanceof Waiting));
      const isOk =
        counted.every(({ trouble }) => trouble === undefined) && (counted.length > 0 || results.length === 0);
      const isVerbose = !isOk || context.req.query('verbose') !== undefined;
      const lines = [
        ...(isVerbose ? results : results.filter(({ trouble }) => trouble)).map(lineOf),
        isVerbose ? `${path.slice(1)} check ${isOk ? 'passed' : 'failed'}\n` : 'ok',
      ];
      return context.text(lines.join('\n'), isOk ? 200 : 500);
    });
    app.get(`${path}/:name`, async (context) => {
      const check = group[context.req.param('name')];
      if (!check) return context.text(`there is no check ${context.req.param('name')}\n`, 404);
      const trouble = await troubleWith(check);
      return trouble === undefined ? context.text('ok') : context.text(`${messageOf(trouble)}\n`, 500);
    });
  }
  return app;
}

function lineOf({ name, trouble }: { readonly name: string; readonly trouble: Error | undefined }): string {
  if (trouble === undefined) return `[+]${name} ok`;
  return trouble instanceof Waiting
    ? `[ ]${name} waits: ${trouble.message}`
    : `[-]${name} failed: ${messageOf(trouble)}`;
}

async function troubleWith(check: Check): Promise<Error | undefined> {
  try {
    await check();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : new Error(messageOf(error));
  }
}
