export { CustomResources } from './custom-resources.ts';
export { withDefinitionRules } from './definition.ts';
