import { PostgresError } from './trouble.ts';

const WORD = /\s*([a-z_]+)\s*=\s*(?:'((?:[^'\\]|\\.)*)'|((?:[^\s'\\]|\\.)*))(?=\s|$)/gy;

/** Both forms that libpq knows: a URL, and words like `host=db user=ann password='with space'`. */
export function urlOf(connectionString: string): URL {
  const url = URL.parse(connectionString) ?? urlOfWords(connectionString);
  if (url && /^postgres(?:ql)?:$/.test(url.protocol) && isDecodable(url.password)) return url;
  // Never what was given: most of it may be a password.
  throw new PostgresError(
    'connectionString is not one of PostgreSQL: write postgres://user:password@host:5432/database, or host=… user=… words',
  );
}

function urlOfWords(text: string): URL | null {
  const words = new Map<string, string>();
  let end = 0;
  for (const match of text.matchAll(WORD)) {
    const [whole, name = '', inQuotes, bare = ''] = match;
    words.set(name, (inQuotes ?? bare).replaceAll(/\\(.)/g, '$1'));
    end = match.index + whole.length;
  }
  if (words.size === 0 || text.slice(end).trim() !== '') return null;
  const take = (name: string, otherwise = '') => {
    const value = encodeURIComponent(words.get(name) ?? otherwise);
    words.delete(name);
    return value;
  };
  const url = URL.parse(
    `postgres://${take('user', 'postgres')}:${take('password')}@${take('host', 'localhost')}:${take('port', '5432')}/${take('dbname')}`,
  );
  for (const [name, value] of words) url?.searchParams.set(name, value);
  return url;
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
