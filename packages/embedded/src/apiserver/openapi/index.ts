export { definitions } from './definitions.ts';
export { type Document, groupDocument, index, swagger } from './documents.ts';
export { acceptsJson, PROTOBUF_V2, swaggerForm } from './media-types.ts';
export type {
  BodyParameter,
  SimpleParameter,
  Swagger,
  SwaggerOperation,
  SwaggerParameter,
  SwaggerPath,
  SwaggerResponse,
} from './swagger.ts';
