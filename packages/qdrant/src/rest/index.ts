/** The control-plane API: custom resources over HTTP. */
export { type ApiOptions, api } from './api.ts';
