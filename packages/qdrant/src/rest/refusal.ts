import { ApiError, isNotFound, TimeoutError, TransportError } from '@polder/kube';
import { type Answer, invalid, notFound } from './answer.ts';

/**
 * What is answered if the API server would not, or could not. Its own words are passed on where they speak of what was sent;
 * those about the operator's rights or about the cluster go to the log alone. `task`: what was to be done, `create collection`.
 * Undefined: it is no fault of the API server.
 */
export function refusalOf(error: unknown, task: string): Answer | undefined {
  if (isLate(error)) return failed(task, 'the API server did not answer in time');
  if (error instanceof TransportError) return failed(task, 'the API server could not be reached');
  if (!(error instanceof ApiError)) return undefined;
  const { status, explanation } = error;
  if (isMissingKind(error)) return failed(task, 'the cluster does not have the kind: polder crds | kubectl apply -f -');
  const [, namespace] = /^namespaces "([^"]*)" not found$/.exec(explanation) ?? [];
  if (namespace !== undefined) return notFound('namespace', namespace);
  if (status === 400 || status === 413 || status === 422) return invalid(detailsOf(error));
  if (status === 403) return { status: 403, body: { error: 'Forbidden', message: forbidden(explanation, task) } };
  if (status === 409) return { status: 409, body: { error: 'Conflict', message: explanation } };
  return failed(task, `the API server answered ${status}`);
}

/** An object that is not there is called by its name; a path that is not there is none of its business. */
export const isMissingObject = (error: unknown): boolean =>
  error instanceof ApiError && isNotFound(error) && / "[^"]*" not found$/.test(error.explanation);

const isMissingKind = (error: ApiError) => isNotFound(error) && !isMissingObject(error);

const failed = (task: string, message: string): Answer => ({
  status: 500,
  body: { error: `Failed to ${task}`, message },
});

/** A request that is given up fails as one that broke off, and says why it was given up. */
const isLate = (error: unknown) =>
  error instanceof TimeoutError || (error instanceof TransportError && error.cause instanceof TimeoutError);

/** Field by field if the server tells them apart. */
function detailsOf({ causes, explanation }: ApiError): readonly string[] {
  const details = causes.flatMap(({ field, message }) => (field && message ? [`${field}: ${message}`] : []));
  return details.length > 0 ? details : [explanation];
}

/** Who may not do it is us, and under which name is nobody's business; a quota or a policy has something to say to the caller. */
function forbidden(explanation: string, task: string): string {
  const isAboutUs = /\bUser "|\bcannot \w+ resource\b/.test(explanation);
  return isAboutUs ? `the operator is not allowed to ${task}; its role has to allow it` : explanation;
}
