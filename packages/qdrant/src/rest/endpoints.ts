import type { Answer } from './answer.ts';
import { listBackups } from './backups.ts';
import type { Call, NamespacedCall } from './call.ts';
import { createCollection, deleteCollection, getCollection, listCollections } from './collections.ts';
import { createRestore, listRestores } from './restores.ts';
import { createTemplate, getTemplate, listTemplates } from './templates.ts';

interface Request {
  /** The last part of the path, where it is a name. */
  readonly name: string;
  /** Empty where nothing is sent. */
  readonly body: Readonly<Record<string, unknown>>;
}

/** `task`: what it does, for those who are told that it failed. */
export type Endpoint = {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly task: string;
} & (
  | { readonly about: 'namespace'; answer(call: NamespacedCall, request: Request): Promise<Answer> }
  | { readonly about: 'cluster'; answer(call: Call, request: Request): Promise<Answer> }
);

export const endpoints: readonly Endpoint[] = [
  {
    method: 'POST',
    path: '/collections',
    about: 'namespace',
    task: 'create collection',
    answer: (call, { body }) => createCollection(call, body),
  },
  {
    method: 'GET',
    path: '/collections',
    about: 'namespace',
    task: 'list collections',
    answer: (call) => listCollections(call),
  },
  {
    method: 'GET',
    path: '/collections/:name',
    about: 'namespace',
    task: 'get collection',
    answer: (call, { name }) => getCollection(call, name),
  },
  {
    method: 'DELETE',
    path: '/collections/:name',
    about: 'namespace',
    task: 'delete collection',
    answer: (call, { name }) => deleteCollection(call, name),
  },
  {
    method: 'GET',
    path: '/backups/collections/:name',
    about: 'namespace',
    task: 'list backups',
    answer: (call, { name }) => listBackups(call, name),
  },
  {
    method: 'POST',
    path: '/restore/collections/:name',
    about: 'namespace',
    task: 'initiate restore',
    answer: (call, { name, body }) => createRestore(call, name, body),
  },
  {
    method: 'GET',
    path: '/restore/collections/:name',
    about: 'namespace',
    task: 'get restore status',
    answer: (call, { name }) => listRestores(call, name),
  },
  {
    method: 'POST',
    path: '/templates',
    about: 'cluster',
    task: 'create template',
    answer: (call, { body }) => createTemplate(call, body),
  },
  {
    method: 'GET',
    path: '/templates',
    about: 'cluster',
    task: 'list templates',
    answer: (call) => listTemplates(call),
  },
  {
    method: 'GET',
    path: '/templates/:name',
    about: 'cluster',
    task: 'get template',
    answer: (call, { name }) => getTemplate(call, name),
  },
];
