import { getEventListeners } from 'node:events';
import { beforeEach, expect, test } from 'vitest';
import { Exchange } from './exchange.ts';

/** What undici hands to a handler, as far as an exchange uses it. */
class Controller {
  readonly rawHeaders = null;
  readonly rawTrailers = null;
  aborted = false;
  paused = false;
  reason: Error | null = null;
  pause() {
    this.paused = true;
  }
  resume() {
    this.paused = false;
  }
  abort(reason: Error) {
    this.aborted = true;
    this.reason = reason;
  }
}

let controller: Controller;
let stop: AbortController;
let exchange: Exchange;
beforeEach(() => {
  controller = new Controller();
  stop = new AbortController();
  exchange = new Exchange(stop.signal);
});

const start = () => {
  exchange.onRequestStart(controller);
  exchange.onResponseStart(controller, 200, { 'content-type': 'application/json' });
};
const data = (text: string) => exchange.onResponseData(controller, Buffer.from(text));
const taken = async () => (await exchange.take())?.map(String);

test('what came together is taken together, what comes later is waited for, and then there is no more', async () => {
  start();
  expect(await exchange.head).toEqual({ status: 200, headers: { 'content-type': 'application/json' } });
  data('a');
  data('b');
  expect(await taken()).toEqual(['a', 'b']);
  const next = taken();
  data('c');
  exchange.onResponseEnd();
  expect(await next).toEqual(['c']);
  expect(await taken()).toBeUndefined();
});

test('an interim answer is not the answer', async () => {
  exchange.onRequestStart(controller);
  exchange.onResponseStart(controller, 100, {});
  exchange.onResponseStart(controller, 201, {});
  expect(await exchange.head).toMatchObject({ status: 201 });
});

test('the rest of an answer is what has come and what comes', async () => {
  start();
  data('{"a"');
  const rest = exchange.rest();
  data(':1}');
  exchange.onResponseEnd();
  expect(String(await rest)).toBe('{"a":1}');
});

test('a server that is faster than its reader has to wait', async () => {
  start();
  const chunk = 'x'.repeat(200_000);
  data(chunk);
  expect(controller.paused).toBe(false);
  data(chunk);
  expect(controller.paused).toBe(true);
  expect(await taken()).toHaveLength(2);
  expect(controller.paused).toBe(false);
});

test('who gets no answer is told why', async () => {
  const error = new Error('connect ECONNREFUSED');
  exchange.onResponseError(controller, error);
  await expect(exchange.head).rejects.toBe(error);
});

test('an answer that breaks off is read up to there', async () => {
  start();
  data('a');
  exchange.onResponseError(controller, new Error('other side closed'));
  expect(await taken()).toEqual(['a']);
  await expect(exchange.take()).rejects.toThrow('other side closed');
});

test('a signal ends an answer at once, with its reason, and the connection with it', async () => {
  start();
  data('a');
  const reason = new Error('enough');
  stop.abort(reason);
  await expect(exchange.take()).rejects.toBe(reason);
  expect(controller.reason).toBe(reason);
});

test('a request that was given up while it waited for a connection is not sent', async () => {
  stop.abort(new Error('enough'));
  await expect(exchange.head).rejects.toThrow('enough');
  exchange.onRequestStart(controller);
  expect(controller.aborted).toBe(true);
});

test('who leaves before the end gives the connection up, and after it does not', async () => {
  start();
  exchange.leave(new Error('nobody reads on'));
  expect(controller.aborted).toBe(true);
  const [next, ended] = [new Controller(), new Exchange()];
  ended.onRequestStart(next);
  ended.onResponseStart(next, 200, {});
  ended.onResponseEnd();
  ended.leave(new Error('nobody reads on'));
  expect(next.aborted).toBe(false);
});

test('after its end nothing listens to the signal', () => {
  expect(getEventListeners(stop.signal, 'abort')).toHaveLength(1);
  start();
  exchange.onResponseEnd();
  expect(getEventListeners(stop.signal, 'abort')).toHaveLength(0);
});
