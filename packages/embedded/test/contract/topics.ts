import { apply } from './apply.ts';
import { create } from './create.ts';
import { remove } from './delete.ts';
import { list } from './list.ts';
import { patch } from './patch.ts';
import { read } from './read.ts';
import { replace } from './replace.ts';
import { scale } from './scale.ts';
import { status } from './status.ts';
import type { Topic } from './suite.ts';
import { watch } from './watch.ts';

export const topics: readonly Topic[] = [create, read, list, watch, replace, patch, apply, remove, status, scale];
