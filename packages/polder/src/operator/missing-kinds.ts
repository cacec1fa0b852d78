import { apiVersionOf, isNotFound, type Kind, type Logger, type ProductEvents, resourceNameOf } from '@polder/kube';

/**
 * The kinds that the cluster turns out not to have. A product waits for its own in silence, and the first question is always
 * why.
 */
export class MissingKinds implements ProductEvents {
  readonly #missing = new Set<string>();
  readonly #ours: readonly string[];
  readonly #log: Logger;

  /** `ours` are those that this program can install. */
  constructor(ours: readonly Kind[], log: Logger) {
    this.#ours = ours.map(resourceNameOf);
    this.#log = log;
  }

  reflecting(kind: Kind): ReturnType<NonNullable<ProductEvents['reflecting']>> {
    const name = resourceNameOf(kind);
    const found = () => {
      if (this.#missing.delete(name)) this.#log.info({}, `the cluster has the kind ${titleOf(kind)} now`);
    };
    return {
      opened: found,
      ended: (ending) => {
        if (ending.ended === 'listed') return found();
        if (ending.ended !== 'failed' || !isNotFound(ending.error) || this.#missing.has(name)) return;
        this.#missing.add(name);
        this.#log.error({}, this.#absenceOf(kind));
      },
    };
  }

  /** Whether one of these is not there: to wait for it may take for ever. */
  isAmong(kinds: readonly Kind[]): boolean {
    return kinds.some((kind) => this.#missing.has(resourceNameOf(kind)));
  }

  /** Why these are not read yet. */
  explain(kinds: readonly Kind[]): string {
    const isMissing = (kind: Kind) => this.#missing.has(resourceNameOf(kind));
    const missing = kinds.filter(isMissing).map((kind) => this.#absenceOf(kind));
    const unread = kinds.filter((kind) => !isMissing(kind)).map(resourceNameOf);
    return [...missing, ...(unread.length > 0 ? [`not read yet: ${unread.join(', ')}`] : [])].join('; ');
  }

  #absenceOf(kind: Kind): string {
    const wayOut = this.#ours.includes(resourceNameOf(kind)) ? '; install it: polder crds | kubectl apply -f -' : '';
    return `the cluster has no kind ${titleOf(kind)}${wayOut}`;
  }
}

const titleOf = (kind: Kind) => `${kind.kind} (${apiVersionOf(kind)})`;
