export { type ListRequest, listPage, type Page } from './list.ts';
export { boolean, type ListOptions, parseListOptions } from './list-options.ts';
