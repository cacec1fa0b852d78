import type { JsonSchema } from '@polder/kube';
import type { GroupVersionKind } from '../builtin/facts.ts';
import type { Operation, Parameter, Path } from './paths.ts';

/** A document of OpenAPI 2, with what this server has to say in it. */
export interface Swagger {
  readonly swagger: '2.0';
  readonly info: { readonly title: string; readonly version: string };
  readonly paths: Readonly<Record<string, SwaggerPath>>;
  readonly definitions: Readonly<Record<string, JsonSchema>>;
}

export interface SwaggerPath {
  readonly get?: SwaggerOperation;
  readonly put?: SwaggerOperation;
  readonly post?: SwaggerOperation;
  readonly delete?: SwaggerOperation;
  readonly patch?: SwaggerOperation;
  readonly parameters?: readonly SwaggerParameter[];
}

export interface SwaggerOperation {
  readonly operationId: string;
  readonly consumes?: readonly string[];
  readonly parameters: readonly SwaggerParameter[];
  readonly responses: Readonly<Record<string, SwaggerResponse>>;
  readonly 'x-kubernetes-action': string;
  readonly 'x-kubernetes-group-version-kind': GroupVersionKind;
}

export type SwaggerParameter = SimpleParameter | BodyParameter;

export interface SimpleParameter {
  readonly name: string;
  readonly in: 'query' | 'path';
  readonly required?: true;
  readonly type?: string;
}

export interface BodyParameter {
  readonly name: string;
  readonly in: 'body';
  readonly schema: JsonSchema;
}

export interface SwaggerResponse {
  readonly description: string;
  readonly schema?: JsonSchema;
}

export const swaggerSchemas = (schemas: Readonly<Record<string, JsonSchema>>) => mapValues(schemas, schemaOf);

export const swaggerPaths = (paths: Readonly<Record<string, Path>>) => mapValues(paths, pathOf);

/**
 * A schema in the words of version 2, cut down to what kubectl makes sense of. It has neither junctors nor `nullable`,
 * takes no type as anything goes, refuses fields beside `properties` whatever else is said, and cannot read an array
 * without `items` at all.
 */
function schemaOf(schema: JsonSchema): JsonSchema {
  const { default: _, nullable, allOf, anyOf: __, oneOf, not: ___, ...rest } = schema;
  // Version 3 wraps a reference that has something beside it, such as a description.
  const { $ref = allOf?.[0]?.$ref, type, items, properties, required, additionalProperties, ...others } = rest;
  const isOpen = nullable === true || schema['x-kubernetes-preserve-unknown-fields'] === true;
  const isUntyped = nullable === true || (type === 'object' && isOpen) || (type === 'array' && (isOpen || !items));
  // Quantities and ports are a number or a text, of which version 2 knows the text.
  const onlyType = oneOf?.find((one) => one.type === 'string')?.type ?? (isUntyped ? undefined : type);
  const needed = required?.filter((name) => properties?.[name]?.nullable !== true) ?? [];
  return {
    ...others,
    ...($ref !== undefined && { $ref: $ref.replace('#/components/schemas/', '#/definitions/') }),
    ...(onlyType !== undefined && { type: onlyType }),
    ...(needed.length > 0 && { required: needed }),
    ...(items && !isOpen && { items: schemaOf(items) }),
    ...(properties && !isOpen && Object.keys(properties).length > 0 && { properties: mapValues(properties, schemaOf) }),
    ...(additionalProperties !== undefined && {
      additionalProperties:
        typeof additionalProperties === 'object' ? schemaOf(additionalProperties) : additionalProperties,
    }),
  };
}

function pathOf({ parameters, ...operations }: Path): SwaggerPath {
  return { ...mapValues(operations, operationOf), ...(parameters && { parameters: parameters.map(parameterOf) }) };
}

function operationOf({ requestBody, parameters, responses, ...operation }: Operation): SwaggerOperation {
  const [body] = Object.values(requestBody?.content ?? {});
  return {
    ...operation,
    ...(requestBody && { consumes: Object.keys(requestBody.content) }),
    parameters: [
      ...(body ? [{ name: 'body', in: 'body', schema: schemaOf(body.schema) } as const] : []),
      ...parameters.map(parameterOf),
    ],
    responses: mapValues(responses, ({ description, content }) => {
      const [answer] = Object.values(content);
      return { description, ...(answer && { schema: schemaOf(answer.schema) }) };
    }),
  };
}

/** What is a parameter's `schema` now was a part of the parameter itself. */
function parameterOf({ schema: { type }, ...parameter }: Parameter): SwaggerParameter {
  return { ...parameter, ...(type !== undefined && { type }) };
}

function mapValues<T, U>(object: Readonly<Record<string, T>>, change: (value: T) => U): Readonly<Record<string, U>> {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(value)]));
}
