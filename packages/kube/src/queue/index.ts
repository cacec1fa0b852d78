export { type AddOptions, BACKGROUND, type QueueEvents, WorkQueue, type WorkQueueOptions } from './work-queue.ts';
