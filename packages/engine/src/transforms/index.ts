export { type Transform, TransformError } from './transform.ts';
