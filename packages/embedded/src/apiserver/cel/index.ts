export { parseFieldPath } from './field-path.ts';
export { type CompiledRule, compileRules } from './rules.ts';
export { type RuleContext, type RuleResult, RuleValidator } from './validator.ts';
