export { type ApiServer, type ApiServerOptions, createApiServer } from './api-server.ts';
export type { Fault, FaultMatch, Faults } from './faults/index.ts';
export type { Followed, Follower } from './follow.ts';
export type { Listener, ListenOptions } from './listen/index.ts';
export type { Column, ServedKind, WireObject } from './served-kind.ts';
export { fileStorage, memoryStorage, type Storage } from './storage/index.ts';
export type { PodLogRequest, PodLogs } from './verbs/pods.ts';
export type { ServiceResolver, WebhookPost, WebhookRequest, WebhookService } from './webhooks/index.ts';
