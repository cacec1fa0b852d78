import type { Environment } from '@marcbachmann/cel-js';
import { hasFormat } from '../../schema/formats.ts';

const PARTS = /^(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?:\/\/(?:[^/?#@]*@)?([^/?#]*))?([^?#]*)(?:\?([^#]*))?/;

/** A URL as Go takes it apart: nothing is normalized, a default port stays. */
class Url {
  readonly text: string;
  readonly scheme: string;
  readonly host: string;
  readonly path: string;
  readonly query: string;

  constructor(text: string) {
    const [, scheme = '', host = '', path = '', query = ''] = PARTS.exec(text) ?? [];
    this.text = text;
    this.scheme = scheme.toLowerCase();
    this.host = host;
    this.path = path;
    this.query = query;
  }

  get port(): string {
    return /:(\d*)$/.exec(this.host.replace(/^\[[^\]]*\]/, ''))?.[1] ?? '';
  }

  get hostname(): string {
    return /^\[([^\]]*)\]/.exec(this.host)?.[1] ?? this.host.replace(/:\d*$/, '');
  }

  get parameters(): Map<string, string[]> {
    const values = new Map<string, string[]>();
    for (const [name, value] of new URLSearchParams(this.query)) {
      values.set(name, [...(values.get(name) ?? []), value]);
    }
    return values;
  }

  equals(other: unknown): boolean {
    return other instanceof Url && other.text === this.text;
  }
}

const TYPE = 'kubernetes.URL';

export function registerUrl(env: Environment): void {
  env.registerType(TYPE, { ctor: Url });
  env.registerOperator(`${TYPE} == ${TYPE}`, (a: Url, b: Url) => a.equals(b));
  env.registerFunction('isURL(string): bool', (text: string) => hasFormat('uri', text));
  env.registerFunction(`url(string): ${TYPE}`, (text: string) => {
    if (!hasFormat('uri', text))
      throw new Error(`URL parse error during conversion from string: parse "${text}": invalid URI for request`);
    return new Url(text);
  });
  env.registerFunction(`${TYPE}.getScheme(): string`, (url: Url) => url.scheme);
  env.registerFunction(`${TYPE}.getHost(): string`, (url: Url) => url.host);
  env.registerFunction(`${TYPE}.getHostname(): string`, (url: Url) => url.hostname);
  env.registerFunction(`${TYPE}.getPort(): string`, (url: Url) => url.port);
  env.registerFunction(`${TYPE}.getEscapedPath(): string`, (url: Url) => url.path);
  env.registerFunction(`${TYPE}.getQuery(): map<string, list<string>>`, (url: Url) => url.parameters);
}
