export { type FieldSelector, parseFieldSelector } from './field-selector.ts';
export {
  asStructured,
  everything,
  type LabelSelector,
  parseLabelSelector,
  printLabelSelector,
  type StructuredSelector,
  structuredLabelSelector,
} from './label-selector.ts';
