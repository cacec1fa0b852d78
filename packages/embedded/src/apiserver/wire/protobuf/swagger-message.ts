import type {
  BodyParameter,
  SimpleParameter,
  Swagger,
  SwaggerOperation,
  SwaggerParameter,
  SwaggerPath,
  SwaggerResponse,
} from '../../openapi/index.ts';
import type { JsonSchema } from '../../schema/index.ts';
import { bool, double, field, int64, message, repeated, text, type WireType } from './writer.ts';

/** An OpenAPI 2 document as gnostic's message `openapi.v2.Document`, the only form in which kubectl reads it. */
export const swaggerMessage = (document: Swagger): Uint8Array => documentType.bytes(document);

const documentType = message<Swagger>(({ swagger, info, paths, definitions }) => [
  field(1, text, swagger),
  field(2, infoType, info),
  field(8, mapOf(pathType, 2), paths),
  field(9, mapOf(schemaType), definitions),
]);

const infoType = message<Swagger['info']>(({ title, version }) => [field(1, text, title), field(2, text, version)]);

const pathType = message<SwaggerPath>((path) => [
  field(2, operationType, path.get),
  field(3, operationType, path.put),
  field(4, operationType, path.post),
  field(5, operationType, path.delete),
  field(8, operationType, path.patch),
  repeated(9, only(1, parameterType), path.parameters),
]);

const operationType = message<SwaggerOperation>((operation) => [
  field(5, text, operation.operationId),
  repeated(7, text, operation.consumes),
  repeated(8, only(1, parameterType), operation.parameters),
  field(9, mapOf(only(1, responseType)), operation.responses),
  extensions(13, operation),
]);

const parameterType = message<SwaggerParameter>((parameter) => [
  parameter.in === 'body' ? field(1, bodyType, parameter) : field(2, simpleType, parameter),
]);

const bodyType = message<BodyParameter>((parameter) => [
  field(2, text, parameter.name),
  field(3, text, parameter.in),
  field(5, schemaType, parameter.schema),
]);

const simpleType = message<SimpleParameter>((parameter) => [
  parameter.in === 'query' ? field(3, queryType, parameter) : field(4, pathParameterType, parameter),
]);

/** Parameters of a query have one field more before the type. */
const located = (typeNumber: number) =>
  message<SimpleParameter>((parameter) => [
    field(1, bool, parameter.required),
    field(2, text, parameter.in),
    field(4, text, parameter.name),
    field(typeNumber, text, parameter.type),
  ]);

const queryType = located(6);
const pathParameterType = located(5);

const responseType = message<SwaggerResponse>(({ description, schema }) => [
  field(1, text, description),
  field(2, only(1, schemaType), schema),
]);

const schemaType: WireType<JsonSchema> = message((schema) => [
  field(1, text, schema.$ref),
  field(2, text, schema.format),
  field(3, text, schema.title),
  field(4, text, schema.description),
  field(6, double, schema.multipleOf),
  field(7, double, schema.maximum),
  field(8, bool, schema.exclusiveMaximum),
  field(9, double, schema.minimum),
  field(10, bool, schema.exclusiveMinimum),
  field(11, int64, schema.maxLength),
  field(12, int64, schema.minLength),
  field(13, text, schema.pattern),
  field(14, int64, schema.maxItems),
  field(15, int64, schema.minItems),
  field(16, bool, schema.uniqueItems),
  field(17, int64, schema.maxProperties),
  field(18, int64, schema.minProperties),
  repeated(19, text, schema.required),
  repeated(20, anyType, schema.enum),
  field(21, othersType, schema.additionalProperties),
  field(22, only(1, text), schema.type),
  field(23, only(1, schemaType), schema.items),
  field(25, mapOf(schemaType), schema.properties),
  field(30, anyType, schema.example),
  extensions(31, schema),
]);

const othersType = message<JsonSchema | boolean>((value) => [
  typeof value === 'boolean' ? field(2, bool, value) : field(1, schemaType, value),
]);

/** A value of any type is written as YAML, which JSON is. */
const anyType = message<unknown>((value) => [field(2, text, JSON.stringify(value))]);

function extensions(number: number, value: object): Uint8Array {
  const own = Object.entries(value).filter(([name]) => name.startsWith('x-'));
  return repeated(number, named(anyType), own);
}

/** Names and values in the order of the object, for which the message has this one field. */
function mapOf<T>(type: WireType<T>, number = 1): WireType<Readonly<Record<string, T>>> {
  return message((value) => [repeated(number, named(type), Object.entries(value))]);
}

const named = <T>(type: WireType<T>) =>
  message<readonly [string, T]>(([name, value]) => [field(1, text, name), field(2, type, value)]);

/** A message of one field: what is a list or one of several cases there is neither here. */
const only = <T>(number: number, type: WireType<T>) => message<T>((value) => [field(number, type, value)]);
