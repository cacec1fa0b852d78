import { clientConfig } from './admission.ts';
import { type Behaviour, specDefaults } from './behaviour.ts';
import { edit, fill, objectAt, objectsAt, textAt } from './fields.ts';

/** What the server fills into a definition; its rules are those of the schemas in it. */
export const customResourceDefinition: Behaviour = {
  generation: true,
  defaults: specDefaults((spec) => {
    const kind = textAt(spec, 'names', 'kind');
    const named = edit(fill(spec, { conversion: { strategy: 'None' } }), 'names', (names) =>
      fill(names, { singular: kind.toLowerCase(), listKind: `${kind}List` }),
    );
    return edit(named, 'conversion', (conversion) =>
      edit(conversion, 'webhook', (webhook) => edit(webhook, 'clientConfig', clientConfig)),
    );
  }),
  prepare: (object) => {
    const stored = objectsAt(objectAt(object, 'spec'), 'versions').find(({ storage }) => storage === true);
    return {
      ...object,
      status: {
        acceptedNames: { kind: '', plural: '' },
        conditions: null,
        storedVersions: stored ? [textAt(stored, 'name')] : [],
      },
    };
  },
};
