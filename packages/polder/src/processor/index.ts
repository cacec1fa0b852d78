export { type BindAddress, bindAddressOf } from './bind-address.ts';
export { type ProcessorOptions, processor } from './processor.ts';
