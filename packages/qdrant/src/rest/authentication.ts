import { createHash, timingSafeEqual } from 'node:crypto';

/** What is wrong with an Authorization header; undefined: it is the right one. */
export type Objection = (authorization: string | undefined) => string | undefined;

/**
 * Tokens are compared by their hashes, which have one length: how long it takes tells neither how long the token is nor how
 * much of a guess was right.
 */
export function tokenCheck(token: string): Objection {
  const expected = digest(token);
  return (authorization) => {
    if (authorization === undefined || authorization === '') return 'Missing Authorization header';
    const [, given] = /^(?:Bearer|Token) +(.+)$/i.exec(authorization.trim()) ?? [];
    if (given === undefined) return 'Invalid Authorization format. Use "Bearer <token>" or "Token <token>"';
    return timingSafeEqual(digest(given), expected) ? undefined : 'Invalid token';
  };
}

const digest = (token: string) => createHash('sha256').update(token).digest();
