/** Keeps a pod until its job has counted its end. */
export const TRACKING = 'batch.kubernetes.io/job-tracking';
/** Annotation and label of an indexed job's pods. */
export const COMPLETION_INDEX = 'batch.kubernetes.io/job-completion-index';
export const FAILURE_COUNT = 'batch.kubernetes.io/job-index-failure-count';
export const IGNORED_FAILURE_COUNT = 'batch.kubernetes.io/job-index-ignored-failure-count';
/** What `spec.managedBy` says of a job that is ours; without it, it is, too. */
export const JOB_CONTROLLER = 'kubernetes.io/job-controller';
