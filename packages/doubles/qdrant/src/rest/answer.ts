import { type Json, printJson } from '../json.ts';
import type { Refusal } from '../state/index.ts';
import type { QdrantResponse } from './exchange.ts';

/** What a request comes to. */
export type Answer =
  | { readonly is: 'result'; readonly result: Json }
  /** It was begun and is not waited for. */
  | { readonly is: 'accepted' }
  | { readonly is: 'refused'; readonly refusal: Refusal }
  | { readonly is: 'plain'; readonly response: QdrantResponse }
  /** The connection ends without an answer. */
  | { readonly is: 'closed' };

export const result = (value: Json): Answer => ({ is: 'result', result: value });
export const plain = (
  status: number,
  text: string | Uint8Array,
  headers: Readonly<Record<string, string>> = { 'content-type': 'text/plain; charset=utf-8' },
): Answer => ({ is: 'plain', response: { status, headers, body: Buffer.from(text) } });

/** Ends the work on a request, from wherever it is noticed. */
export class Refused extends Error {
  readonly refusal: Refusal;

  constructor(status: number, error: string) {
    super(error);
    this.refusal = { status, error };
  }
}

export const refuse = ({ status, error }: Refusal): never => {
  throw new Refused(status, error);
};

/** Undefined: the connection is closed. */
export function responseOf(answer: Answer, seconds: number): QdrantResponse | undefined {
  switch (answer.is) {
    case 'result':
      return json(200, { result: answer.result, status: 'ok', time: seconds });
    case 'accepted':
      return json(202, { status: 'accepted', time: seconds });
    case 'refused':
      return json(answer.refusal.status, { status: { error: answer.refusal.error }, time: seconds });
    case 'plain':
      return answer.response;
    case 'closed':
      return undefined;
  }
}

const json = (status: number, body: Json): QdrantResponse => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: Buffer.from(printJson(body)),
});
