/**
 * Copies a topic until it is killed: `fixture-copier.ts BROKER FROM TO`. Prints how many messages it has copied and committed
 * so far, a line for each batch.
 */
import { connectedSink, connectedSource, isMessage, lastOf } from './fixture.ts';

const [broker = '', from = '', to = ''] = process.argv.slice(2);
const { signal } = new AbortController();
const source = await connectedSource({ brokers: [broker], topic: from, consumerGroup: from }, signal);
const sink = await connectedSink(broker, to, signal);
let copied = 0;
for await (const batch of source.read(signal, { revoked() {} })) {
  for (let at = 0; at < batch.length; at += 500) {
    const inputs = batch.slice(at, at + 500).filter(isMessage);
    const failures = await sink.write(inputs, signal);
    if (failures.length > 0) throw new Error(failures[0]?.because);
    await source.commit(lastOf(inputs));
    copied += inputs.length;
    process.stdout.write(`${copied}\n`);
  }
}
