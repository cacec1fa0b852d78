export { isZero, plainDecimal, spellingOf } from './decimal.ts';
export {
  EMPTY_OBJECT,
  entriesOf,
  get,
  hasOnly,
  isEmpty,
  keysOf,
  merge,
  ObjectBuilder,
  withMember,
  withoutMember,
} from './object.ts';
export { MAX_DEPTH, numberOf, parseJson } from './parse.ts';
export { printJson } from './print.ts';
export { dateText, decimalSpelling, momentText, shortestFloat, timeText } from './spelling.ts';
export { textOf } from './text-of.ts';
export {
  ExactNumber,
  isArray,
  isNumber,
  isObject,
  type Json,
  type JsonArray,
  type JsonObject,
  type JsonScalar,
  OrderedObject,
  type PlainObject,
} from './value.ts';
