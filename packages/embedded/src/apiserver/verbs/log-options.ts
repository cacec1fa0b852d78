import { badRequest, type FieldError, invalid } from '../status.ts';
import type { Call } from './call.ts';
import { integerIn } from './options.ts';

/** The query of `kubectl logs`. */
export interface LogOptions {
  readonly follow: boolean;
  readonly previous: boolean;
  readonly timestamps: boolean;
  readonly tailLines: number | undefined;
  readonly sinceSeconds: number | undefined;
  /** In milliseconds. */
  readonly sinceTime: number | undefined;
  readonly limitBytes: number | undefined;
}

export function logOptions({ query, name = '' }: Call): LogOptions {
  const number = (option: string) => (query.has(option) ? integerIn(query.get(option) ?? '') : undefined);
  const yes = (option: string) => query.has(option) && !/^(false|0)$/i.test(query.get(option) ?? '');
  const options = {
    follow: yes('follow'),
    previous: yes('previous'),
    timestamps: yes('timestamps'),
    tailLines: number('tailLines'),
    sinceSeconds: number('sinceSeconds'),
    sinceTime: query.has('sinceTime') ? timeIn(query.get('sinceTime') ?? '') : undefined,
    limitBytes: number('limitBytes'),
  };
  const problems = problemsOf(options);
  if (query.has('stream')) problems.push({ type: 'Forbidden', field: 'stream', detail: 'may not be specified' });
  if (problems.length > 0) throw invalid({ group: '', plural: '', kind: 'PodLogOptions' }, name, problems);
  return options;
}

function problemsOf({ tailLines, limitBytes, sinceSeconds, sinceTime }: LogOptions): FieldError[] {
  const atLeast = (field: string, value: number | undefined, least: 0 | 1): readonly FieldError[] => {
    const detail = least === 0 ? 'must be greater than or equal to 0' : 'must be greater than 0';
    return value !== undefined && value < least ? [{ type: 'Invalid', field, value, detail }] : [];
  };
  const since: readonly FieldError[] =
    sinceSeconds !== undefined && sinceTime !== undefined
      ? [{ type: 'Forbidden', field: '[]', detail: 'at most one of `sinceTime` or `sinceSeconds` may be specified' }]
      : atLeast('sinceSeconds', sinceSeconds, 1);
  return [...atLeast('tailLines', tailLines, 0), ...atLeast('limitBytes', limitBytes, 1), ...since];
}

function timeIn(text: string): number {
  const time = Date.parse(text);
  if (!/^\d{4}-\d\d-\d\dT/.test(text) || Number.isNaN(time)) {
    const quoted = JSON.stringify(text);
    throw badRequest(`parsing time ${quoted} as "2006-01-02T15:04:05Z07:00": cannot parse ${quoted} as "2006"`);
  }
  return time;
}
