import { asText } from '../object-text.ts';
import { isObject, type Json } from '../schema/schema.ts';
import { badRequest, type FieldError, invalid } from '../status.ts';
import type { Call } from './call.ts';
import { dryRunErrors, integerIn } from './options.ts';

export type Propagation = 'Foreground' | 'Background' | 'Orphan';

export interface DeleteOptions {
  readonly isDryRun: boolean;
  readonly gracePeriodSeconds: number | undefined;
  readonly propagation: Propagation | undefined;
  readonly uid: string | undefined;
  readonly resourceVersion: string | undefined;
}

/** A deletion takes its options from the body if there is one, else from the query. */
export function deleteOptions({ query }: Pick<Call, 'query'>, body: Json | undefined): DeleteOptions {
  const sent = isObject(body) && Object.keys(body).length > 0 ? body : fromQuery(query);
  const { dryRun = [], gracePeriodSeconds, propagationPolicy, orphanDependents, preconditions } = sent;
  const dryRuns = Array.isArray(dryRun) ? dryRun.map(asText) : [asText(dryRun)];
  const errors: FieldError[] = [...dryRunErrors(dryRuns)];
  if (propagationPolicy !== undefined && propagationPolicy !== null && !isPropagation(propagationPolicy)) {
    const detail = 'supported values: "Foreground", "Background", "Orphan", "nil"';
    errors.push({ type: 'NotSupported', field: 'propagationPolicy', value: propagationPolicy, detail });
  }
  if (propagationPolicy !== undefined && orphanDependents !== undefined) {
    const detail = 'orphanDependents and deletionPropagation cannot be both set';
    errors.push({ type: 'Invalid', field: 'propagationPolicy', value: propagationPolicy, detail });
  }
  if (errors.length > 0) throw invalid({ group: 'meta.k8s.io', plural: '', kind: 'DeleteOptions' }, '', errors);
  const conditions = isObject(preconditions) ? preconditions : {};
  return {
    isDryRun: dryRuns.length > 0,
    gracePeriodSeconds: typeof gracePeriodSeconds === 'number' ? gracePeriodSeconds : undefined,
    propagation: isPropagation(propagationPolicy) ? propagationPolicy : orphaning(orphanDependents),
    uid: text(conditions['uid']),
    resourceVersion: text(conditions['resourceVersion']),
  };
}

function fromQuery(query: URLSearchParams): Readonly<Record<string, Json>> {
  const grace = query.get('gracePeriodSeconds');
  const policy = query.get('propagationPolicy');
  const orphan = query.get('orphanDependents');
  return {
    dryRun: query.getAll('dryRun'),
    ...(grace !== null && { gracePeriodSeconds: integerIn(grace) }),
    ...(policy !== null && { propagationPolicy: policy }),
    ...(orphan !== null && { orphanDependents: orphan === 'true' }),
  };
}

const isPropagation = (value: Json | undefined): value is Propagation =>
  value === 'Foreground' || value === 'Background' || value === 'Orphan';

const orphaning = (orphan: Json | undefined): Propagation | undefined =>
  orphan === true ? 'Orphan' : orphan === false ? 'Background' : undefined;

function text(value: Json | undefined): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') throw badRequest('preconditions must be texts');
  return value;
}
