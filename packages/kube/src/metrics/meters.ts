import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** Makes the series that are served together. */
export function metersIn(registry: Registry) {
  const registers = [registry];
  return {
    counter: <L extends string>(name: string, help: string, ...labelNames: L[]) =>
      new Counter({ name, help, labelNames, registers }),
    gauge: <L extends string>(name: string, help: string, ...labelNames: L[]) =>
      new Gauge({ name, help, labelNames, registers }),
    histogram: <L extends string>(name: string, help: string, buckets: number[] | undefined, ...labelNames: L[]) =>
      new Histogram({ name, help, labelNames, registers, ...(buckets && { buckets }) }),
    /** A gauge that is read whenever somebody looks. */
    reading: (name: string, help: string, read: () => number) =>
      new Gauge({
        name,
        help,
        registers,
        collect() {
          this.set(read());
        },
      }),
  };
}

export type Meters = ReturnType<typeof metersIn>;
