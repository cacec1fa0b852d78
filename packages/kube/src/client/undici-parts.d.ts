/** Parts of undici by their own paths: its index also loads fetch, WebSocket, caches and mocks, 17 MB in every process. */
declare module 'undici/lib/dispatcher/pool.js' {
  export { Pool as default } from 'undici';
}
