export { countTemplates } from './daemon-set.ts';
export { toCoreEvent, toEventsEvent } from './event.ts';
export { KUBERNETES_VERSION } from './facts.gen.ts';
export { type GroupVersionKind, type KindFacts, type SubresourceFacts } from './facts.ts';
export { BUILTIN_KINDS, type BuiltinKind } from './kinds.ts';
export { validateMetadata } from './metadata.ts';
export { POD_MUTABLE } from './pod.ts';
export { misspelledQuantity, parseQuantity } from './quantity.ts';
export { type Allocator, allocate } from './service.ts';
