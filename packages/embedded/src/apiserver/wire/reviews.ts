import { apiVersionOf, timestamp } from '@polder/kube';
import { isObject, type Json } from '../schema/index.ts';
import type { Call } from '../verbs/call.ts';

const USER = { username: 'polder:embedded', groups: ['system:masters', 'system:authenticated'] };

const EVERYTHING = { verbs: ['*'], apiGroups: ['*'], resources: ['*'] };

/** There is one user, and it may do everything. Reviews are answered and not stored. */
export function reviewed({ served, core }: Call, sent: Json | undefined): Readonly<Record<string, unknown>> {
  const { kind } = served;
  const body = isObject(sent) ? sent : {};
  return {
    ...body,
    kind: kind.kind,
    apiVersion: apiVersionOf(kind),
    metadata:
      kind.kind === 'SelfSubjectReview' ? { creationTimestamp: timestamp(core.clock.now()) } : (body['metadata'] ?? {}),
    ...(kind.kind === 'SelfSubjectReview' ? {} : { spec: body['spec'] ?? {} }),
    status: statusOf(kind.kind),
  };
}

function statusOf(kind: string): Readonly<Record<string, unknown>> {
  switch (kind) {
    case 'SelfSubjectReview':
      return { userInfo: USER };
    case 'TokenReview':
      return { authenticated: true, user: USER };
    case 'SelfSubjectRulesReview':
      return {
        resourceRules: [EVERYTHING],
        nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
        incomplete: false,
      };
    default:
      return { allowed: true };
  }
}
