/** The message of all benchmarks of the engine: an order, about 1 KB of JSON, with something of everything. */
export const orderOf = (id: number) => ({
  id,
  order_id: `ord-${String(id).padStart(8, '0')}`,
  active: id % 2 === 0,
  status: id % 10 === 0 ? 'open' : 'paid',
  created: '2026-03-01T08:30:00.120Z',
  customer: {
    name: 'Jane Doe',
    email: `jane.doe.${id}@example.com`,
    phone: '+31 20 123 4567',
    address: { street: `Keizersgracht ${id % 900}`, city: 'Amsterdam', zip: '1015 CJ', country: 'NL' },
  },
  card: '4111111111111111',
  items: [
    { sku: `SKU-${id % 1000}`, quantity: 2, price: 19.99, title: 'A small thing' },
    { sku: 'SKU-002', quantity: 1, price: 5.49, title: 'Another thing, slightly larger' },
    { sku: 'SKU-003', quantity: 7, price: 100.01, title: 'A third thing' },
  ],
  total: (75_995 + (id % 500) * 100) / 100,
  tags: ['new', 'web', 'gift'],
  flags: { vip: true, blocked: false, trial: null },
  agent: 'Mozilla/5.0 (X11; Linux x86_64)',
  note: 'Leave it with the neighbours if nobody opens, please. '.repeat(4),
});

/** Each field in a column of its own. */
export const ORDER_COLUMNS = {
  id: 'bigint PRIMARY KEY',
  order_id: 'text',
  active: 'boolean',
  status: 'text',
  created: 'timestamptz',
  customer: 'jsonb',
  card: 'text',
  items: 'jsonb',
  total: 'numeric',
  tags: 'jsonb',
  flags: 'jsonb',
  agent: 'text',
  note: 'text',
} as const satisfies Record<keyof ReturnType<typeof orderOf>, string>;

/** What the job with transformations does: drops what is not paid, masks two of these, keeps these, adds the time. */
export const PAID = 'paid';
export const MASKED = ['customer.email', 'card'] as const;
export const SELECTED = ['id', 'order_id', 'status', 'customer', 'card', 'items', 'total', 'created', 'note'] as const;
export const STAMP = 'processed_at';
