export {
  applyAll,
  type Compiled,
  compileTransform,
  compileTransforms,
  type Step,
  type TransformConfigs,
  type Transformed,
  type TransformFailure,
  type TransformSpec,
  type TransformType,
} from './chain.ts';
export { checkCondition, checkPath } from './grammars.ts';
export { ROUTED_CONDITION } from './router.ts';
export { ConfigError, type Transform, TransformError } from './transform.ts';
