import { type Condition, type ConditionStatus, setCondition } from './condition.ts';

/** How a pass over an object ended, for everyone who waits for it. */
export type Summary =
  /** The object is as its spec says. */
  | { readonly is: 'ready' }
  /** On the way, without help. */
  | { readonly is: 'reconciling'; readonly because: string; readonly reason?: string }
  /** Somebody has to act, else nothing will change. */
  | { readonly is: 'stalled'; readonly reason: string; readonly because: string }
  /** We could not look. */
  | { readonly is: 'unknown'; readonly because: string };

type Claim = readonly [status: ConditionStatus, reason: string, message: string];

/**
 * The conditions by which generic tools judge an object (kstatus; `kubectl wait`, Flux, Argo CD): `Ready`, and beside it the
 * two that are true only when something is out of the ordinary. All three are always there: one that is left out could mean
 * that it is false, or that the controller is too old to know it.
 */
export function summarize(
  conditions: readonly Condition[],
  outcome: Summary,
  observedGeneration: number | undefined,
  now: number,
): Condition[] {
  let summary: Condition[] = [...conditions];
  for (const [type, [status, reason, message]] of Object.entries(claimsOf(outcome))) {
    const generation = observedGeneration === undefined ? {} : { observedGeneration };
    summary = setCondition(summary, { type, status, reason, message, ...generation }, now);
  }
  return summary;
}

function claimsOf(outcome: Summary): Record<'Ready' | 'Reconciling' | 'Stalled', Claim> {
  const settled: Claim = ['False', 'Settled', ''];
  const progressing: Claim = ['False', 'Progressing', ''];
  switch (outcome.is) {
    case 'ready':
      return { Ready: ['True', 'Ready', ''], Reconciling: settled, Stalled: settled };
    case 'reconciling': {
      const { reason = 'Reconciling', because } = outcome;
      return { Ready: ['False', reason, because], Reconciling: ['True', reason, because], Stalled: progressing };
    }
    case 'stalled': {
      const { reason, because } = outcome;
      // Both at once would be "in progress" to kstatus: nobody would be told to act.
      return {
        Ready: ['False', reason, because],
        Reconciling: ['False', reason, ''],
        Stalled: ['True', reason, because],
      };
    }
    case 'unknown': {
      const unknown: Claim = ['Unknown', 'Unknown', outcome.because];
      return { Ready: unknown, Reconciling: unknown, Stalled: ['False', 'Unknown', ''] };
    }
  }
}
