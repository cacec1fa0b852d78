export { forget, type History, historyOf, type RecordedRevision, type Revision, type Revisions } from './history.ts';
export { NameTaken, type RevisionStep, revisionSteps } from './steps.ts';
