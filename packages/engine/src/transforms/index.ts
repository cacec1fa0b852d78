export {
  applyAll,
  type Compiled,
  compileTransforms,
  type Step,
  type TransformConfigs,
  type Transformed,
  type TransformFailure,
  type TransformSpec,
  type TransformType,
} from './chain.ts';
export { type Condition, parseCondition } from './condition.ts';
export { Path } from './path.ts';
export { ExpressionError } from './path-syntax.ts';
export { ROUTED_CONDITION } from './router.ts';
export { type Clock, ConfigError, type Transform, TransformError } from './transform.ts';
