import type { Transport, TransportRequest } from '@polder/kube';

/**
 * What the suite reads from an answer. The fields are those that cases look at one by one; everything else is compared
 * whole with `toMatchObject`. An answer that lacks a field makes the case fail where it is read.
 */
export interface Body {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly generation: number;
    readonly creationTimestamp: string;
    readonly deletionTimestamp?: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations: Readonly<Record<string, string>>;
    readonly finalizers: readonly string[];
    readonly managedFields: readonly ManagedFields[];
    readonly continue?: string;
    readonly remainingItemCount?: number;
  };
  readonly items: readonly Body[];
  readonly spec: Readonly<Record<string, unknown>>;
  readonly status: unknown;
  readonly data: Readonly<Record<string, string>>;
  readonly message: string;
  readonly reason: string;
  readonly code: number;
  readonly details: {
    readonly name?: string;
    readonly kind?: string;
    readonly uid?: string;
    readonly causes: readonly { readonly reason: string; readonly field: string; readonly message: string }[];
  };
}

export interface ManagedFields {
  readonly manager: string;
  readonly operation: string;
  readonly apiVersion: string;
  readonly time?: string;
  readonly subresource?: string;
  readonly fieldsType: string;
  readonly fieldsV1: Readonly<Record<string, unknown>>;
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly text: string;
  /** The parsed text. Reading it fails if the answer is no JSON. */
  readonly body: Body;
}

export interface CallOptions {
  /** Sent as JSON; a string goes as it is. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

export interface ApplyOptions {
  readonly manager?: string;
  readonly force?: boolean;
  readonly query?: string;
}

export type PatchType = 'json' | 'merge' | 'strategic';

const PATCH_TYPES: Readonly<Record<PatchType, string>> = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
};

/** The verbs of the API, as thin as can be: a case says which bytes go out and looks at those that come back. */
export class Wire {
  readonly transport: Transport;

  constructor(transport: Transport) {
    this.transport = transport;
  }

  async request(method: TransportRequest['method'], path: string, options: CallOptions = {}): Promise<Answer> {
    const { body } = options;
    const response = await this.transport.request({
      method,
      path,
      headers: {
        accept: 'application/json',
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...options.headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      signal: options.signal,
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      text,
      get body(): Body {
        const parsed: Body = JSON.parse(text);
        return parsed;
      },
    };
  }

  get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    return this.request('GET', path, { headers });
  }

  create(path: string, body: unknown): Promise<Answer> {
    return this.request('POST', path, { body });
  }

  replace(path: string, body: unknown): Promise<Answer> {
    return this.request('PUT', path, { body });
  }

  delete(path: string, body?: unknown): Promise<Answer> {
    return this.request('DELETE', path, { body });
  }

  patch(type: PatchType, path: string, body: unknown): Promise<Answer> {
    return this.request('PATCH', path, { body, headers: { 'content-type': PATCH_TYPES[type] } });
  }

  /** Server-side apply. */
  apply(path: string, body: unknown, options: ApplyOptions = {}): Promise<Answer> {
    const { manager = 'contract', force = false, query = '' } = options;
    return this.request('PATCH', `${path}?fieldManager=${manager}&force=${force}${query}`, {
      body,
      headers: { 'content-type': 'application/apply-patch+yaml' },
    });
  }

  /** For the steps that only prepare a case: anything but success ends it with the server's own words. */
  async must(answer: Promise<Answer>): Promise<Body> {
    const { status, text, body } = await answer;
    if (status >= 300) throw new Error(`the case could not be prepared: ${status} ${text}`);
    return body;
  }
}
