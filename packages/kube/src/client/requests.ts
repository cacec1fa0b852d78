import { type Clock, sleep, systemClock } from '../clock/index.ts';
import { type Logger, silentLogger } from '../log.ts';
import { ApiError, type Status } from './errors.ts';
import { afterAnswer, afterFailure, retryAfterMs } from './retry.ts';
import type { Transport, TransportRequest, TransportResponse } from './transport.ts';
import { type Warnings, warningsTo } from './warnings.ts';

export interface ClientOptions {
  readonly transport: Transport;
  /** Names the program to the API server's flow control and audit log: `polder/1.2 (dataflow)`. */
  readonly userAgent: string;
  readonly clock?: Clock;
  readonly log?: Logger;
  /** Told of every answer, for metrics. */
  readonly onAnswer?: (answer: { readonly method: string; readonly code: number | '<error>' }) => void;
}

export interface Request extends Omit<TransportRequest, 'headers'> {
  readonly contentType?: string | undefined;
  /** Carrying it out twice does no more than carrying it out once. */
  readonly repeatable: boolean;
}

/** Sends requests, again where that is safe, and turns refusals into errors. */
export class Requests {
  readonly #transport: Transport;
  readonly #userAgent: string;
  readonly #clock: Clock;
  readonly #warnings: Warnings;
  readonly #onAnswer: ClientOptions['onAnswer'];

  constructor(options: ClientOptions) {
    this.#transport = options.transport;
    this.#userAgent = options.userAgent;
    this.#clock = options.clock ?? systemClock;
    this.#warnings = warningsTo(options.log ?? silentLogger);
    this.#onAnswer = options.onAnswer;
  }

  async json<T>(request: Request): Promise<T> {
    const answer = await this.send(request);
    return JSON.parse(await answer.text());
  }

  /** An answer of success; everything else is thrown. */
  async send({ contentType = 'application/json', repeatable, ...rest }: Request): Promise<TransportResponse> {
    const request: TransportRequest = {
      ...rest,
      headers: {
        accept: 'application/json',
        'user-agent': this.#userAgent,
        ...(rest.body !== undefined && { 'content-type': contentType }),
      },
    };
    for (let tries = 1; ; tries++) {
      const { answer, error } = await this.#try(request);
      this.#onAnswer?.({ method: request.method, code: answer?.status ?? '<error>' });
      if (answer && answer.status < 400) {
        this.#warnings.take(answer.headers['warning']);
        return answer;
      }
      const verdict = answer ? afterAnswer(answer, tries) : afterFailure(error, request, repeatable, tries);
      if (!verdict.again) throw answer ? await errorOf(answer) : error;
      await answer?.discard();
      await sleep(this.#clock, verdict.afterMs, request.signal);
    }
  }

  close(): Promise<void> {
    return this.#transport.close();
  }

  async #try(request: TransportRequest): Promise<{ answer?: TransportResponse; error?: unknown }> {
    try {
      return { answer: await this.#transport.request(request) };
    } catch (error) {
      if (request.signal?.aborted) throw error;
      return { error };
    }
  }
}

async function errorOf(answer: TransportResponse): Promise<ApiError> {
  const status = statusIn(await answer.text());
  return new ApiError(answer.status, status, {
    auditId: answer.headers['audit-id'],
    retryAfterMs: retryAfterMs(answer),
  });
}

/** What stands before an API server (a proxy, a load balancer) answers in HTML or plain text. */
function statusIn(text: string): Status {
  try {
    const status: Status | null = JSON.parse(text);
    if (status?.kind === 'Status') return status;
  } catch {
    // Not JSON: the text itself is all we know.
  }
  return { kind: 'Status', message: text.trim().slice(0, 300) };
}
