import { METRICS_PORT } from '../objects/index.ts';
import type { ReadMetrics } from './processor-counters.ts';

/** Fetches a page. Rejects unless the answer is a good one. */
export type GetPage = (url: string, signal: AbortSignal) => Promise<string>;

/** Asks pods at their own addresses. */
export function metricsOverHttp(get: GetPage = getPage): ReadMetrics {
  return ({ status }, signal) => {
    const address = status?.podIP ?? '';
    const host = address.includes(':') ? `[${address}]` : address;
    return get(`http://${host}:${METRICS_PORT}/metrics`, signal);
  };
}

const getPage: GetPage = async (url, signal) => {
  const response = await fetch(url, { signal });
  if (!response.ok) throw new Error(`${url} answered ${response.status}`);
  return response.text();
};
