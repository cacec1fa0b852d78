import type { TransportRequest } from '@polder/kube';
import { subresourcesOf } from '../discovery/index.ts';
import type { Verb } from '../faults/index.ts';
import { boolean } from '../list/index.ts';
import { methodNotAllowed, noSuchPath } from '../status.ts';
import type { RequestTarget } from './request-target.ts';

/** What a method means on what it is sent to. Throws 404 for a subresource that is none, 405 for a verb that is none. */
export function verbOf(method: TransportRequest['method'], target: RequestTarget, query: URLSearchParams): Verb {
  const verb = named(method, target, query);
  const { served, subresource } = target;
  const own = served.kind.verbs;
  if (subresource === undefined) {
    if (verb === undefined || !own.includes(verb)) throw methodNotAllowed();
    return verb;
  }
  const endpoint = subresourcesOf(served.kind).find(({ name }) => name === subresource);
  if (endpoint === undefined) throw noSuchPath();
  if (verb === undefined || !endpoint.verbs.includes(verb)) throw methodNotAllowed();
  return verb;
}

function named(
  method: TransportRequest['method'],
  { name, subresource, isWatchPath }: RequestTarget,
  query: URLSearchParams,
): Verb | undefined {
  const isCollection = name === undefined;
  switch (method) {
    case 'GET':
      if (isWatchPath) return 'watch';
      if (!isCollection) return 'get';
      return boolean(query, 'watch') ? 'watch' : 'list';
    case 'POST':
      return isCollection || subresource !== undefined ? 'create' : undefined;
    case 'PUT':
      return isCollection ? undefined : 'update';
    case 'PATCH':
      return isCollection ? undefined : 'patch';
    case 'DELETE':
      return isCollection ? 'deletecollection' : 'delete';
  }
}
