/** No answer: as a client of sockets sees it. */
export class ConnectionFailure extends Error {
  override readonly name = 'ConnectionFailure';
  readonly code: 'ECONNREFUSED' | 'ECONNRESET';

  constructor(code: ConnectionFailure['code'], message: string) {
    super(message);
    this.code = code;
  }
}
