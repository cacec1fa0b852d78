export {
  type Condition,
  type ConditionStatus,
  findCondition,
  type NewCondition,
  sameStatus,
  setCondition,
} from './condition.ts';
export { type Outcome, summarize } from './summary.ts';
