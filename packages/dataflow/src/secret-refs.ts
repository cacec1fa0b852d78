import { secretRefsOf } from '@polder/engine/spec';
import type { GivenSpec } from './kinds/index.ts';
import { once } from './once.ts';

/** Where a spec refers to Secrets. */
export const secretRefsIn = once((spec: GivenSpec) => secretRefsOf(spec));
