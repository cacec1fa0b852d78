export { type Instant, instantOfMilliseconds, isInRange, parseCivilTime } from './instant.ts';
export { compileFormat, type Format, millisecondsOf } from './layout.ts';
export { instantOf, UTC, type Zone, zoneNamed } from './zone.ts';
