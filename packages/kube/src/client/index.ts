export { type Transport, TransportError, type TransportRequest, type TransportResponse } from './transport.ts';
