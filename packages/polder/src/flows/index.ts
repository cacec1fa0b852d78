export { readFlows } from './flows.ts';
export { tryFlow } from './try-flow.ts';
export { validateFlows } from './validate.ts';
