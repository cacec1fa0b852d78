import { expect, test } from 'vitest';
import { MetricsRegistry } from './registry.ts';

test('everything is printed as Prometheus reads it', () => {
  const registry = new MetricsRegistry();
  const sent = registry.counter({ name: 'sent_total', help: 'Sent.', labelNames: ['name', 'route'] });
  sent.labels({ name: 'a', route: 'default' }).inc();
  sent.labels({ route: 'default', name: 'a' }).inc(2);
  sent.labels({ name: 'a', route: `country == "N\\L"\n` }).inc(0);
  registry.gauge({ name: 'busy', help: 'Busy.', labelNames: [] }).labels({}).set(0.5);
  const size = registry.histogram({ name: 'size', help: 'Size.', labelNames: ['name'], buckets: [1, 2.5] });
  for (const value of [0, 1, 2, 100]) size.labels({ name: 'a' }).observe(value);
  expect(registry.text()).toBe(`# HELP sent_total Sent.
# TYPE sent_total counter
sent_total{name="a",route="default"} 3
sent_total{name="a",route="country == \\"N\\\\L\\"\\n"} 0
# HELP busy Busy.
# TYPE busy gauge
busy 0.5
# HELP size Size.
# TYPE size histogram
size_bucket{name="a",le="1"} 2
size_bucket{name="a",le="2.5"} 3
size_bucket{name="a",le="+Inf"} 4
size_sum{name="a"} 103
size_count{name="a"} 4
`);
});
