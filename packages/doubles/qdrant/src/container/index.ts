export { type Configuration, ConfigurationError, configurationOf } from './configuration.ts';
export type { Place, PlaceVolume } from './place.ts';
export type { SocketAddress } from './sockets.ts';
export { type QdrantStandIn, type QdrantStandInOptions, qdrantStandIn, type RunningPeer } from './stand-in.ts';
