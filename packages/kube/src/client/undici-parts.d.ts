/** Parts of undici by their own paths: its index also loads fetch, WebSocket, caches and mocks, 17 MB in every process. */
declare module 'undici/lib/dispatcher/pool.js' {
  export { Pool as default } from 'undici';
}

/** `pool.request(…)`, which is put on pools by the index alone. */
declare module 'undici/lib/api/api-request.js' {
  import type { Dispatcher } from 'undici';
  export default function request(
    this: Dispatcher,
    options: Dispatcher.RequestOptions,
  ): Promise<Dispatcher.ResponseData>;
}
