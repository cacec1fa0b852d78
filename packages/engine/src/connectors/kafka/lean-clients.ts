/**
 * The client's producer and consumer, which know all about groups, leaders, sequences and retries, with our own encoding of
 * records (`record-batch.ts`). It takes a third off the CPU time of copying a topic.
 */
import {
  type API,
  type Callback,
  Consumer,
  type CreateRecordsBatchOptions,
  createAPI,
  fetchV13,
  fetchV14,
  fetchV15,
  fetchV16,
  fetchV17,
  groupByProperty,
  kGetApi,
  type MessageRecord,
  Producer,
  produceV9,
  produceV10,
  produceV11,
  type Reader,
  ResponseError,
  type ResponseErrorWithLocation,
  type ResponseParser,
  readKnownTaggedFields,
  Writer,
} from '@platformatic/kafka';
import { decodeBatches, encodeBatch } from './record-batch.ts';

/** What we speak; to brokers of before 2021, which know only older versions, the client speaks alone. */
const FETCH = new Map(
  Object.entries({ 13: fetchV13, 14: fetchV14, 15: fetchV15, 16: fetchV16, 17: fetchV17 }).map(
    ([version, { createRequest }]) => [Number(version), createRequest],
  ),
);
const PRODUCE = new Map(
  Object.entries({ 9: produceV9, 10: produceV10, 11: produceV11 }).map(([version, { parseResponse }]) => [
    Number(version),
    parseResponse,
  ]),
);

export class LeanProducer<Key, Value, HeaderKey, HeaderValue> extends Producer<Key, Value, HeaderKey, HeaderValue> {
  override [kGetApi]<Request extends unknown[], Response>(
    name: string,
    callback: Callback<API<Request, Response>>,
  ): void {
    super[kGetApi]<Request, Response>(name, (error, api) => {
      const parser = api && PRODUCE.get(api.version);
      const isOurs = isParserOf<Response>(parser, name === 'Produce');
      callback(error, api && isOurs ? createAPI(api.key, api.version, produceRequest, parser) : api);
    });
  }
}

export class LeanConsumer<Key, Value, HeaderKey, HeaderValue> extends Consumer<Key, Value, HeaderKey, HeaderValue> {
  override [kGetApi]<Request extends unknown[], Response>(
    name: string,
    callback: Callback<API<Request, Response>>,
  ): void {
    super[kGetApi]<Request, Response>(name, (error, api) => {
      const parser: ResponseParser<unknown> = parseFetch;
      const createRequest = api && FETCH.get(api.version);
      const isOurs = isParserOf<Response>(parser, name === 'Fetch');
      callback(error, createRequest && isOurs ? createAPI(api.key, api.version, createRequest, parser) : api);
    });
  }
}

/** The client finds an API by its name, and leaves it to whoever asks to know what that answers. */
function isParserOf<Response>(
  parser: ResponseParser<unknown> | undefined,
  isOfThatName: boolean,
): parser is ResponseParser<Response> {
  return parser !== undefined && isOfThatName;
}

function produceRequest(
  acks: number,
  timeout: number,
  messages: readonly MessageRecord[],
  options: CreateRecordsBatchOptions,
): Writer {
  const timestamp = BigInt(Date.now());
  return Writer.create()
    .appendString(options.transactionalId)
    .appendInt16(acks)
    .appendInt32(timeout)
    .appendArray(groupByProperty<string, MessageRecord>(messages, 'topic'), (writer, [topic, ofTopic]) => {
      const byPartition = groupByProperty<number, MessageRecord>(ofTopic, 'partition');
      writer.appendString(topic).appendArray(byPartition, (inner, [partition, records]) => {
        const firstSequence = options.sequences.getWithDefault(`${topic}:${partition}`, 0);
        const batch = encodeBatch(records, { ...options, timestamp, firstSequence });
        inner
          .appendInt32(partition)
          .appendUnsignedVarInt(batch.length + 1)
          .append(batch);
      });
    })
    .appendTaggedFields();
}

function parseFetch(_correlationId: number, apiKey: number, apiVersion: number, reader: Reader): FetchResponse {
  const errors: ResponseErrorWithLocation[] = [];
  const throttleTimeMs = reader.readInt32();
  const errorCode = reader.readInt16();
  if (errorCode !== 0) errors.push(['', [errorCode, null]]);
  const sessionId = reader.readInt32();
  const responses = reader.readArray((topic, i) => ({
    topicId: topic.readUUID(),
    partitions: topic.readArray(
      (partition, j) => {
        const parsed = parsePartition(partition);
        if (parsed.errorCode !== 0) errors.push([`/responses/${i}/partitions/${j}`, [parsed.errorCode, null]]);
        return parsed;
      },
      true,
      false,
    ),
  }));
  readKnownTaggedFields(reader, {});
  const response = { throttleTimeMs, errorCode, sessionId, responses };
  if (errors.length > 0) throw new ResponseError(apiKey, apiVersion, Object.fromEntries(errors), response);
  return response;
}

type FetchResponse = ReturnType<typeof fetchV17.parseResponse>;
type FetchedPartition = FetchResponse['responses'][number]['partitions'][number];

function parsePartition(reader: Reader): FetchedPartition {
  const head = {
    partitionIndex: reader.readInt32(),
    errorCode: reader.readInt16(),
    highWatermark: reader.readInt64(),
    lastStableOffset: reader.readInt64(),
    logStartOffset: reader.readInt64(),
    abortedTransactions: reader.readNullableArray((transaction) => ({
      producerId: transaction.readInt64(),
      firstOffset: transaction.readInt64(),
    })),
    preferredReadReplica: reader.readInt32(),
  };
  // In one piece, whatever pieces it came in.
  const records = decodeBatches(reader.readBytes());
  readKnownTaggedFields(reader, {});
  return { ...head, records };
}
