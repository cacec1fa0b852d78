export { type ProcessorOptions, processor } from './processor.ts';
