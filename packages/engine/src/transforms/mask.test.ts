import { expect, test } from 'vitest';
import { mask } from './mask.ts';
import { isUntouched, textOf } from './test-message.ts';

test.each([
  [{ fields: ['p', 'n'], keepLength: true }, '{"p":"abcd","n":12}', '{"p":"****","n":"**"}'],
  [{ fields: ['$.p'] }, '{"p":"abcd","z":0.10}', '{"p":"***","z":0.10}'],
  [
    { fields: ['password'], maskChar: 'X', keepLength: false },
    '{"password":"verylongpassword123"}',
    '{"password":"XXX"}',
  ],
  [
    { fields: ['user.password', 'payment.cardNumber'], keepLength: true },
    '{"user":{"password":"secret"},"payment":{"cardNumber":"1234567890123456"}}',
    '{"user":{"password":"******"},"payment":{"cardNumber":"****************"}}',
  ],
  [{ fields: ['p'], keepLength: true }, '{"p":"né\\ud83d\\ude00"}', '{"p":"***"}'],
  [{ fields: ['p'], keepLength: true, maskChar: 'ab' }, '{"p":"xy"}', '{"p":"abab"}'],
  [{ fields: ['p'], maskChar: '' }, '{"p":true}', '{"p":"***"}'],
  [{ fields: ['p'], keepLength: true }, '{"p":null}', '{"p":""}'],
  [{ fields: ['p'], keepLength: true }, '{"p":{"a":1}}', '{"p":"*******"}'],
  [
    { fields: ['u.#.p', 't[*]', 's*'] },
    '{"u":[{"p":1},{"q":2},{"p":3}],"t":["a"],"s1":1,"s2":2}',
    '{"u":[{"p":"***"},{"q":2},{"p":"***"}],"t":["***"],"s1":"***","s2":"***"}',
  ],
  [{ fields: ['#.p'] }, '[{"p":"x"}]', '[{"p":"***"}]'],
])('%j on %s', (config, before, after) => expect(textOf(mask(config), before)).toBe(after));

test('what is missing is not made, and the message passes untouched', () => {
  const payloads = ['{"a":1}', '{"p":{"q":1}}', '[]', 'null', 'no json', Buffer.from([0, 255]), null];
  for (const payload of payloads) expect(isUntouched(mask({ fields: ['p.x', 'z'] }), payload)).toBe(true);
});

test('a path that can not be read says which', () => {
  expect(() => mask({ fields: ['a', 'b.#(x)'] })).toThrow(expect.objectContaining({ field: 'fields[1]' }));
});
