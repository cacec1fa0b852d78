import { admission } from './admission.ts';
import { apply } from './apply.ts';
import { applyMerges } from './apply-merges.ts';
import { cel } from './cel.ts';
import { create } from './create.ts';
import { customResources } from './custom-resources.ts';
import { defaults } from './defaults.ts';
import { remove } from './delete.ts';
import { discovery } from './discovery.ts';
import { errors } from './errors.ts';
import { eventsAndLeases } from './events-leases.ts';
import { kinds } from './kinds.ts';
import { list } from './list.ts';
import { namespaces } from './namespaces.ts';
import { patch } from './patch.ts';
import { podSubresources } from './pod-subresources.ts';
import { races } from './races.ts';
import { read } from './read.ts';
import { replace } from './replace.ts';
import { reviews } from './reviews.ts';
import { scale } from './scale.ts';
import { status } from './status.ts';
import type { Topic } from './suite.ts';
import { tables } from './tables.ts';
import { unknownFields } from './unknown-fields.ts';
import { validation } from './validation.ts';
import { watch } from './watch.ts';

export const topics: readonly Topic[] = [
  create,
  read,
  list,
  watch,
  replace,
  patch,
  apply,
  applyMerges,
  remove,
  status,
  scale,
  defaults,
  validation,
  unknownFields,
  kinds,
  races,
  customResources,
  admission,
  cel,
  tables,
  discovery,
  errors,
  eventsAndLeases,
  namespaces,
  podSubresources,
  reviews,
];
