export { CustomResources, DEFINITIONS } from './custom-resources.ts';
