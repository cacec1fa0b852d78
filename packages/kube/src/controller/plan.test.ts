import fc from 'fast-check';
import { expect, test } from 'vitest';
import { judge, type Rule, type Step } from './plan.ts';
import { summaryOf } from './report.ts';

const step = (name: string): Step => ({ do: name, because: 'it is wanted' });
const never = (name: string, ...forbidden: string[]): Rule<Step, undefined> => ({
  name,
  forbids: (one) => (forbidden.includes(one.do) ? `${one.do} is dangerous` : undefined),
});

test('a step that no rule forbids may be taken, one that is forbidden is held by the first rule that says so', () => {
  const judged = judge([step('a'), step('b')], [never('first', 'b'), never('second', 'b')], undefined);
  expect(judged).toEqual({
    steps: [step('a')],
    held: [{ step: step('b'), rule: 'first', because: 'b is dangerous' }],
  });
});

test('every wanted step is either taken or held, in its order, and no forbidden one is ever taken', () => {
  const name = fc.constantFrom('a', 'b', 'c', 'd');
  fc.assert(
    fc.property(fc.array(name), fc.array(fc.array(name)), (wanted, forbidden) => {
      const rules = forbidden.map((names, i) => never(`rule-${i}`, ...names));
      const { steps, held } = judge(wanted.map(step), rules, undefined);
      const isForbidden = (one: Step) => forbidden.flat().some((name) => name === one.do);
      expect(steps).toEqual(wanted.map(step).filter((one) => !isForbidden(one)));
      expect(held.map((one) => one.step)).toEqual(wanted.map(step).filter(isForbidden));
    }),
  );
});

test('the status says which rule holds which step, and why', () => {
  const held = [{ step: step('remove-peer'), rule: 'a-peer-leaves-empty', because: 'b still holds 2 replicas' }];
  expect(summaryOf({ steps: [], held })).toEqual({
    is: 'reconciling',
    reason: 'Held',
    because: 'remove-peer is held by a-peer-leaves-empty: b still holds 2 replicas',
  });
  expect(summaryOf({ steps: [], held: [] })).toEqual({ is: 'ready' });
});
