export {
  type RunningStandIn,
  type StandIn,
  type StandInOptions,
  type StandInPlace,
  type StandIns,
  standIns,
} from './stand-in-runner.ts';
