/** What a controller makes of a write that the server refused. */
import { ApiError, messageOf } from '@polder/kube';

/** The server's own words. Without the audit id: a text that is new each time would be written each time. */
export const explanationOf = (error: unknown) => (error instanceof ApiError ? error.explanation : messageOf(error));

/** The whole namespace goes, and the workload with it: nothing to report. */
export const isNamespaceGoing = (error: unknown) =>
  error instanceof ApiError && error.causes.some(({ reason }) => reason === 'NamespaceTerminating');
