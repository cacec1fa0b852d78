import { badRequest, type FieldError, invalid } from '../status.ts';
import type { Call } from './call.ts';

/** The query of a write. */
export interface WriteOptions {
  readonly isDryRun: boolean;
  readonly fieldManager: string;
  readonly fieldValidation: 'Strict' | 'Warn' | 'Ignore';
  /** Only for apply: take fields from their owners. */
  readonly force: boolean | undefined;
}

export function writeOptions(call: Call, kind: 'CreateOptions' | 'UpdateOptions' | 'PatchOptions'): WriteOptions {
  const { query } = call;
  const manager = query.get('fieldManager') ?? '';
  const validation = query.get('fieldValidation') ?? 'Warn';
  const errors: FieldError[] = [...dryRunErrors(query.getAll('dryRun'))];
  if (manager.length > 128) {
    errors.push({ type: 'TooLong', field: 'fieldManager', detail: 'may not be more than 128 bytes' });
  }
  if (!isValidation(validation)) {
    const supported = ['', 'Ignore', 'Strict', 'Warn'].map((one) => JSON.stringify(one)).join(', ');
    errors.push({
      type: 'NotSupported',
      field: 'fieldValidation',
      value: validation,
      detail: `supported values: ${supported}`,
    });
  }
  if (errors.length > 0) throw invalid({ group: 'meta.k8s.io', plural: '', kind }, '', errors);
  const force = query.get('force');
  return {
    isDryRun: query.has('dryRun'),
    fieldManager: manager === '' ? managerFrom(call.userAgent) : manager,
    fieldValidation: isValidation(validation) ? validation : 'Warn',
    force: force === null ? undefined : force !== 'false' && force !== '0',
  };
}

const isValidation = (text: string): text is WriteOptions['fieldValidation'] =>
  text === 'Strict' || text === 'Warn' || text === 'Ignore';

/** `kubectl/v1.36 (linux/amd64)` writes as `kubectl`. */
function managerFrom(userAgent: string): string {
  return (userAgent.split('/')[0] ?? '').slice(0, 128);
}

export function dryRunErrors(values: readonly string[]): readonly FieldError[] {
  return values.every((value) => value === 'All')
    ? []
    : [{ type: 'NotSupported', field: 'dryRun', value: values, detail: 'supported values: "All"' }];
}

export function integerIn(text: string): number {
  if (!/^[+-]?\d+$/.test(text)) throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
  return Number(text);
}
