/** What is answered to a call: always JSON. */
export interface Answer {
  readonly status: 200 | 201 | 400 | 401 | 403 | 404 | 409 | 413 | 415 | 500;
  readonly body: object;
}

export const ok = (body: object): Answer => ({ status: 200, body });
export const created = (body: object): Answer => ({ status: 201, body });
export const list = (items: readonly object[]): Answer => ok({ items, count: items.length });

export const invalid = (details: readonly string[]): Answer => ({
  status: 400,
  body: { error: 'Validation failed', details },
});

/** `collection`: how the API calls what was looked for. */
export const notFound = (what: Subject, name: string): Answer => ({
  status: 404,
  body: { error: `${capital(what)} not found`, name },
});

export const alreadyExists = (what: Subject, name: string): Answer => ({
  status: 409,
  body: { error: `${capital(what)} already exists`, name },
});

export type Subject = 'collection' | 'template' | 'restore' | 'namespace';

const capital = (word: string) => word.charAt(0).toUpperCase() + word.slice(1);
