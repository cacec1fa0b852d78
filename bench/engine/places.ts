/** What the jobs read, and where it is seen how much of it has arrived. */
import { Admin, Consumer, Producer, stringSerializers } from '@platformatic/kafka';
import type { PostgresServer } from '../../tools/postgres/start.ts';
import { ORDER_COLUMNS, orderOf, PAID } from './order.ts';

export const PARTITIONS = 6;
/** Below the megabyte that a broker takes for one partition. */
const PORTION = 3_000;

/** Which orders come in: `rewritten` has half as many, each twice, far apart. The last of each partition is always new. */
export type Content = 'new' | 'rewritten';

export function* idsOf(content: Content, messages: number): Generator<number> {
  const distinct = content === 'new' ? messages : Math.ceil((messages - PARTITIONS) / 2);
  for (let at = 0; at < messages - PARTITIONS; at++) yield (at % distinct) + 1;
  for (let at = messages - PARTITIONS; at < messages; at++) yield at + 1;
}

/** Somewhere that messages arrive. */
export interface Place {
  /** How many have arrived; for tables, exact at the beginning and at the end only. */
  arrived(): Promise<number>;
  remove(): Promise<void>;
}

export class Topics {
  readonly #admin: Admin;
  readonly #consumer: Consumer;
  readonly #broker: string;

  constructor(broker: string) {
    const client = { clientId: 'bench', bootstrapBrokers: [broker] };
    this.#broker = broker;
    this.#admin = new Admin(client);
    this.#consumer = new Consumer({ ...client, groupId: 'bench' });
  }

  async create(topic: string): Promise<Place> {
    await this.#admin.createTopics({ topics: [topic], partitions: PARTITIONS, replicas: 1 });
    return {
      arrived: async () => {
        const ends = (await this.#consumer.listOffsets({ topics: [topic], timestamp: -1n })).get(topic) ?? [];
        return ends.reduce((sum, end) => sum + Number(end), 0);
      },
      remove: () => this.#admin.deleteTopics({ topics: [topic] }),
    };
  }

  /** Uncompressed, as producers send unless told otherwise. */
  async fill(topic: string, content: Content, messages: number): Promise<void> {
    const producer = new Producer({
      clientId: 'bench',
      bootstrapBrokers: [this.#broker],
      serializers: stringSerializers,
      // On a busy machine answers come late, and what is sent again must not be there twice.
      idempotent: true,
      producerId: -1n,
      producerEpoch: -1,
    });
    const ids = [...idsOf(content, messages)];
    for (let at = 0; at < ids.length; at += PORTION) {
      const portion = ids.slice(at, at + PORTION).map((id) => ({
        topic,
        partition: id % PARTITIONS,
        key: `customer-${id % 5_000}`,
        value: JSON.stringify(orderOf(id)),
      }));
      await producer.send({ messages: portion, acks: -1 });
    }
    await producer.close();
  }

  async close(): Promise<void> {
    await Promise.all([this.#admin.close(), this.#consumer.close(true)]);
  }
}

export class Tables {
  readonly #server: PostgresServer;

  constructor(server: PostgresServer) {
    this.#server = server;
  }

  /** `messages`: how many will be written to it. */
  async create(table: string, messages: number): Promise<Place> {
    const columns = Object.entries(ORDER_COLUMNS).map(([name, type]) => `${name} ${type}`);
    await this.#server.sql(`CREATE TABLE ${table} (${columns.join()})`);
    const count = async (condition: string) => {
      const [row] = await this.#server.sql(`SELECT count(*)::int AS count FROM ${table} WHERE ${condition}`);
      return Number(row?.['count']);
    };
    let first = 0;
    return {
      // To count a table takes as long as to write a good part of it: only while it is small, and once its last rows are in.
      arrived: async () => {
        if (first === 0) first = await count('true');
        const isEnding = (await count(`id > ${messages - PARTITIONS}`)) === PARTITIONS;
        return isEnding ? count('true') : first;
      },
      remove: async () => void (await this.#server.sql(`DROP TABLE ${table}`)),
    };
  }

  async fill(table: string, messages: number): Promise<void> {
    for (let first = 1; first <= messages; first += PORTION) {
      const rows = Array.from({ length: Math.min(PORTION, messages - first + 1) }, (_, at) => orderOf(first + at));
      await this.#server.sql(`INSERT INTO ${table} SELECT * FROM json_populate_recordset(NULL::${table}, $1)`, [
        JSON.stringify(rows),
      ]);
    }
    // Else the first reader would pay for it.
    await this.#server.sql(`VACUUM ANALYZE ${table}`);
  }
}

/** How many of the orders pass the filter of the job with transformations. */
export function paidAmong(messages: number): number {
  let paid = 0;
  for (const id of idsOf('new', messages)) if (orderOf(id).status === PAID) paid++;
  return paid;
}
