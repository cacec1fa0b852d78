export { type Json, parseJson, printJson } from './json.ts';
