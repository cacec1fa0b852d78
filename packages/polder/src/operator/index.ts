/** `polder operator`, and what every product's operator shares. */
export { type Configurable, defaultConfig, type OperatorConfig, readConfig } from './config.ts';
export { type OperatorFlags, operator } from './operator.ts';
export { chosen, managed, serversOf } from './products.ts';
export { resolverOf } from './resolve.ts';
export { serving } from './serving.ts';
