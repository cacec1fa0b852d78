import type { QdrantRequest, QdrantResponse } from './rest/exchange.ts';

/** What is wrong with one peer. Killing it is not among them: that is what `stop` is for. */
export interface Faults {
  /** Gets no CPU: connections are taken and nobody answers, until it goes on. */
  readonly isHung?: boolean;
  /** Nobody listens to clients; other peers reach it. */
  readonly refusesClients?: boolean;
  /** Before each answer, to clients and to other peers. */
  readonly latencyMs?: number;
  readonly isDiskFull?: boolean;
  /** No transfer from or to it comes to its end. */
  readonly failsTransfers?: boolean;
  /** What it proposes never arrives, or is agreed on while its caller is told of a timeout. */
  readonly consensus?: 'lost' | 'late';
  /**
   * Asked for each request of a client: an answer instead of the real one, or a connection that is closed before or after
   * the request is carried out.
   */
  readonly answer?: (request: QdrantRequest) => QdrantResponse | 'close' | 'close-after' | undefined;
}
