import { type Static, type TObject, Type } from 'typebox';
import { type Finding, forbid, need, warn, when } from '../finding.ts';
import { FROM_SECRET, type Given, type Immutable, oneOf, withRule } from '../schema.ts';
import { basicAuth, sasl } from './credentials.ts';
import { tls } from './tls.ts';

const DEFAULT_GROUP = 'dataflow-operator';

const PROTOCOLS = ['PLAINTEXT', 'SSL', 'SASL_PLAINTEXT', 'SASL_SSL'] as const;
export type SecurityProtocol = (typeof PROTOCOLS)[number];

const connection = {
  brokers: Type.Array(Type.String({ minLength: 1 }), {
    minItems: 1,
    description:
      'Some brokers of the cluster, host:port; the others are learned from them. A Secret has them as a list with commas.',
    ...FROM_SECRET,
  }),
  topic: Type.String({ description: 'The topic.', ...FROM_SECRET }),
};

const security = {
  securityProtocol: Type.Optional(
    oneOf(PROTOCOLS, {
      description: 'What tls and sasl must amount to. Without it, that is what they say.',
      'x-polder-any-case': true,
    }),
  ),
  tls: Type.Optional(tls),
  sasl: Type.Optional(sasl),
};

const schemaRegistry = Type.Object(
  {
    url: Type.String({ format: 'http-url', description: 'Address of the registry.', ...FROM_SECRET }),
    basicAuth: Type.Optional(basicAuth),
    tls: Type.Optional(tls),
  },
  { description: 'A Confluent schema registry, which knows the schemas that messages name.' },
);

export const kafkaSource = withRule(
  Type.Object(
    {
      ...connection,
      consumerGroup: Type.String({
        default: DEFAULT_GROUP,
        description: 'Flows of the same group share the partitions of a topic; its offsets are kept in Kafka.',
        ...FROM_SECRET,
      }),
      format: oneOf(['json', 'avro'], { default: 'json', description: 'How the values of the messages are written.' }),
      schemaRegistry: Type.Optional(schemaRegistry),
      avroSchema: Type.Optional(
        Type.String({
          format: 'json',
          description: 'The Avro schema, as JSON, of messages that do not name theirs.',
          ...FROM_SECRET,
        }),
      ),
      avroSchemaFile: Type.Optional(Type.String({ description: 'A file with that schema.' })),
      ...security,
    },
    { description: 'Reads a topic as a member of a consumer group, from the oldest message on.' },
  ),
  (given, has) => [
    ...securityFindings(given),
    ...when(
      given.format === 'avro' && !has('schemaRegistry') && !has('avroSchema') && !has('avroSchemaFile'),
      need('schemaRegistry', 'format avro needs a schemaRegistry, an avroSchema or an avroSchemaFile'),
    ),
    ...when(
      has('avroSchema') && has('avroSchemaFile'),
      forbid('avroSchemaFile', 'may not be given beside avroSchema; keep one of the two'),
    ),
    ...when(
      !has('consumerGroup'),
      warn('consumerGroup', `is not set: all flows without one share the group ${DEFAULT_GROUP}, and its messages`),
    ),
  ],
);
export type KafkaSourceSpec = Immutable<Static<typeof kafkaSource>>;

export const kafkaSink = withRule(
  Type.Object({ ...connection, ...security }, { description: 'Writes to a topic, with the keys of the messages.' }),
  securityFindings,
);
export type KafkaSinkSpec = Immutable<Static<typeof kafkaSink>>;

type Security = Given<Static<TObject<typeof security>>>;

/** What is spoken with the brokers: what was asked for, which validation has compared with the blocks, or what they say. */
export function securityProtocolOf({ securityProtocol, tls, sasl }: Security): SecurityProtocol {
  if (securityProtocol !== undefined) return securityProtocol;
  if (sasl === undefined) return tls === undefined ? 'PLAINTEXT' : 'SSL';
  return tls === undefined ? 'SASL_PLAINTEXT' : 'SASL_SSL';
}

function securityFindings(given: Security): readonly Finding[] {
  const protocol = securityProtocolOf(given);
  const wants = { tls: protocol.endsWith('SSL'), sasl: protocol.startsWith('SASL') };
  const isPlain = given.sasl !== undefined && given.tls === undefined && given.sasl.mechanism === 'plain';
  return [
    ...(['tls', 'sasl'] as const).flatMap((block) => [
      ...when(
        !wants[block] && given[block] !== undefined,
        forbid(block, `securityProtocol ${protocol} is without ${block}`),
      ),
      ...when(wants[block] && given[block] === undefined, need(block, `securityProtocol ${protocol} needs ${block}`)),
    ]),
    ...when(isPlain && !wants.tls, warn('sasl', 'without tls the password is sent in clear text')),
  ];
}
