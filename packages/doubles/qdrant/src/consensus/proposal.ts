import type { Refusal } from '../state/index.ts';

/** What whoever proposed an entry is told. */
export type Verdict =
  | { readonly is: 'done'; readonly value: boolean }
  | { readonly is: 'refused'; readonly refusal: Refusal }
  | { readonly is: 'broken'; readonly because: string }
  /** May still be agreed on, whenever a majority is back. */
  | { readonly is: 'timed-out' }
  | { readonly is: 'no-leader' };

/** An entry that somebody waits for, from its proposal to the one verdict. */
export class Proposal {
  readonly verdict: Promise<Verdict>;
  #settle: (verdict: Verdict) => void = () => {};
  #decision: { readonly index: number; readonly verdict: Verdict } | undefined;

  constructor() {
    this.verdict = new Promise((resolve) => (this.#settle = resolve));
  }

  /** Agreed on; the one who waits hears of it when its own peer has come so far. */
  decide(index: number, verdict: Verdict): void {
    this.#decision = { index, verdict };
  }

  /** Its peer acts on the log up to this index; true if that settled it. */
  reached(index: number): boolean {
    if (!this.#decision || this.#decision.index > index) return false;
    this.#settle(this.#decision.verdict);
    return true;
  }

  end(verdict: Verdict): void {
    this.#settle(verdict);
  }
}
