import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import { stopSignal } from './signals.ts';

function fakeProcess() {
  const exits: number[] = [];
  const emitter = Object.assign(new EventEmitter(), { exit: (code: number) => exits.push(code) });
  return { emitter, exits };
}

test('the first signal asks to stop, the second one ends the process at once', () => {
  const { emitter, exits } = fakeProcess();
  const { signal } = stopSignal(emitter);
  emitter.emit('SIGTERM', 'SIGTERM');
  expect(signal.aborted).toBe(true);
  expect(exits).toEqual([]);
  emitter.emit('SIGINT', 'SIGINT');
  expect(exits).toEqual([130]);
});

test('after it is disposed of, nothing listens any more', () => {
  const { emitter } = fakeProcess();
  stopSignal(emitter).dispose();
  expect(emitter.eventNames()).toEqual([]);
});
