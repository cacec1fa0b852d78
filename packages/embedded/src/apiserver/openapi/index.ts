export { definitions } from './definitions.ts';
export { acceptsJson, type Document, groupDocument, index, swagger } from './documents.ts';
