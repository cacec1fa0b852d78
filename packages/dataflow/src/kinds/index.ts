export { DataFlow, type GivenSpec, LONGEST_NAME } from './dataflow.ts';
