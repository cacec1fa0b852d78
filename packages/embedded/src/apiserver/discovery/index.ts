export { AGGREGATED, acceptsAggregated, aggregated, etagOf } from './aggregated.ts';
export { coreVersions, type Document, group, groupList, resourceList } from './documents.ts';
export { compareVersions } from './groups.ts';
export { subresourcesOf } from './subresources.ts';
