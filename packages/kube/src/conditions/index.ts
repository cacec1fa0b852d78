export {
  type Condition,
  type ConditionStatus,
  findCondition,
  type NewCondition,
  sameStatus,
  setCondition,
} from './condition.ts';
export { type Summary, summarize } from './summary.ts';
