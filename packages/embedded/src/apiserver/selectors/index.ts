export { type FieldSelector, parseFieldSelector } from './field-selector.ts';
export {
  everything,
  type LabelSelector,
  parseLabelSelector,
  printLabelSelector,
  type StructuredSelector,
  structuredLabelSelector,
} from './label-selector.ts';
