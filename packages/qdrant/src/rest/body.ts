import type { Context } from 'hono';
import type { Answer } from './answer.ts';

/** Nothing that is sent here needs more than a few hundred bytes. */
export const LARGEST_BODY = 64 * 1024;

export type Body =
  | { readonly is: 'read'; readonly value: Readonly<Record<string, unknown>> }
  | { readonly is: 'refused'; readonly answer: Answer };

export const tooLarge: Answer = {
  status: 413,
  body: { error: 'Payload too large', message: `a body has at most ${LARGEST_BODY / 1024} KiB` },
};

/** The JSON object that was sent; none at all is an empty one, which then lacks what is required. */
export async function bodyOf({ req }: Context): Promise<Body> {
  const type = req.header('content-type') ?? '';
  if (type !== '' && !/^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(type)) {
    return refused(415, 'Unsupported media type', 'send application/json');
  }
  const text = await req.text();
  const value = text.trim() === '' ? {} : parsed(text);
  if (value === undefined) return refused(400, 'Invalid JSON', 'the body can not be read as JSON');
  if (!isRecord(value)) return refused(400, 'Invalid JSON', 'the body must be an object');
  return { is: 'read', value };
}

const refused = (status: Answer['status'], error: string, message: string): Body => ({
  is: 'refused',
  answer: { status, body: { error, message } },
});

function parsed(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    return undefined;
  }
}

export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
