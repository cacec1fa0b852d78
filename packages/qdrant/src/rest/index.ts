/** The control-plane API: custom resources over HTTP. */
export { type ApiOptions, qdrantApi } from './api.ts';
export { type Endpoint, endpoints } from './endpoints.ts';
