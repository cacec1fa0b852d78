import type { StatusCause } from '../client/index.ts';
import type { KubernetesObject } from '../kinds/index.ts';

/** What the API server asks before it stores a change. */
export interface AdmissionRequest<T extends KubernetesObject = KubernetesObject> {
  readonly uid: string;
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string };
  readonly resource: { readonly group: string; readonly version: string; readonly resource: string };
  readonly subResource?: string;
  readonly name?: string;
  readonly namespace?: string;
  readonly userInfo: { readonly username?: string; readonly groups?: readonly string[] };
  readonly dryRun?: boolean;
  /** The new state; null on DELETE. */
  readonly object: T | null;
  /** The state before; null on CREATE. */
  readonly oldObject: T | null;
}

export interface Denial {
  readonly allowed: false;
  readonly message: string;
  /** The HTTP status that the user's request gets. Default 403; 422 goes with `causes`. */
  readonly code?: number;
  readonly reason?: string;
  /** What is wrong, field by field. */
  readonly causes?: readonly StatusCause[];
  readonly warnings?: readonly string[];
}

export interface Admission {
  readonly allowed: true;
  /** Shown to the user by kubectl; each cut to 120 characters. */
  readonly warnings?: readonly string[];
}

export type Verdict = Admission | Denial;

/** As a verdict, with the object as it should be instead. */
export type Mutation<T> = (Admission & { readonly object: T }) | Denial;

export interface AdmissionResponse {
  readonly uid: string;
  readonly allowed: boolean;
  readonly status?: {
    readonly code: number;
    readonly message: string;
    readonly reason?: string;
    readonly details?: { readonly causes: readonly StatusCause[] };
  };
  readonly warnings?: readonly string[];
  readonly patchType?: 'JSONPatch';
  readonly patch?: string;
}

export interface ConversionRequest {
  readonly uid: string;
  readonly desiredAPIVersion: string;
  readonly objects: readonly KubernetesObject[];
}

/** Longer ones the API server may cut or leave out. */
const LONGEST_WARNING = 120;

export function responseOf(uid: string, verdict: Verdict): AdmissionResponse {
  const { warnings = [] } = verdict;
  const told = warnings.length === 0 ? {} : { warnings: warnings.map(cut) };
  if (verdict.allowed) return { uid, allowed: true, ...told };
  const { message, code = 403, reason, causes } = verdict;
  return {
    uid,
    allowed: false,
    status: { code, message, ...(reason !== undefined && { reason }), ...(causes && { details: { causes } }) },
    ...told,
  };
}

function cut(warning: string): string {
  return warning.length <= LONGEST_WARNING ? warning : `${warning.slice(0, LONGEST_WARNING - 3)}...`;
}
