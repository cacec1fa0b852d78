import { expect, test } from 'vitest';
import { router } from './router.ts';
import { isUntouched, messageOf } from './test-message.ts';

const routes = router({
  routes: [{ condition: "$.level == 'error'" }, { condition: 'level' }, { condition: '$.level' }],
});

test('the first condition that is met marks the message, in its own words', () => {
  const routed = (payload: string) => routes(messageOf(payload, { topic: 't' })).map(({ metadata }) => metadata);
  expect(routed('{"level":"error"}')).toEqual([{ topic: 't', routed_condition: "$.level == 'error'" }]);
  expect(routed('{"level":"info"}')).toEqual([{ topic: 't', routed_condition: 'level' }]);
});

test('the payload is the one that came', () => {
  const message = messageOf('{ "level": "error" }');
  expect(routes(message)[0]?.payload).toBe(message.payload);
});

test('without a match the message passes untouched', () => {
  for (const payload of ['{"type":"x"}', 'no json', Buffer.from([0, 255]), null])
    expect(isUntouched(routes, payload)).toBe(true);
});

test('a condition that can not be read says which', () => {
  expect(() => router({ routes: [{ condition: 'a' }, { condition: '(' }] })).toThrow(
    expect.objectContaining({ field: 'routes[1].condition' }),
  );
});
