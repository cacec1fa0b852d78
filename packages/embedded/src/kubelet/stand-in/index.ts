export { type RunningStandIn, type StandIn, type StandInPlace, StandInRunner } from './stand-in-runner.ts';
