import { expect, test } from 'vitest';
import { SecretUsers } from './secret-users.ts';

const ref = (name: string) => ({ namespace: 'shop', name });

test('a Secret finds the flows that use it as of their last pass', () => {
  const users = new SecretUsers();
  users.uses(ref('orders'), [ref('a'), ref('b')]);
  users.uses(ref('payments'), [ref('b')]);
  expect(users.of(ref('b'))).toEqual([ref('orders'), ref('payments')]);
  users.uses(ref('orders'), [ref('c')]);
  expect([users.of(ref('a')), users.of(ref('b')), users.of(ref('c'))]).toEqual([
    [],
    [ref('payments')],
    [ref('orders')],
  ]);
  users.forget(ref('payments'));
  expect(users.of(ref('b'))).toEqual([]);
});
