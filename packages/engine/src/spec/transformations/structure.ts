/** Transformations that change how a message is built, not what is in it. */
import { Type } from 'typebox';
import { oneOf } from '../schema.ts';
import { path, singlePath } from './fields.ts';

export const flatten = Type.Object(
  { field: singlePath('The list to take apart.') },
  { description: 'Makes a message of each item of a list, beside the other fields.' },
);

export const structFlatten = Type.Object(
  {
    delimiter: Type.String({
      default: '.',
      minLength: 1,
      description: 'What stands between the parts of the new names.',
    }),
  },
  { description: 'Moves the fields of nested objects to the top.' },
);

export const extractField = Type.Object(
  { field: path('The field.') },
  { description: 'Makes the value of a field the whole message.' },
);

export const hoistField = Type.Object(
  { field: Type.String({ format: 'top-level-key', description: 'The name of the field.' }) },
  { description: 'Makes the whole message the value of a field.' },
);

const deep = Type.Boolean({ default: false, description: 'Also in nested objects and lists.' });

export const snakeCase = Type.Object({ deep }, { description: 'Names fields like_this.' });

export const camelCase = Type.Object({ deep }, { description: 'Names fields LikeThis.' });

export const debeziumUnwrap = Type.Object(
  {
    inferDeleteFromTombstone: Type.Boolean({
      default: false,
      description: 'Make a deletion of a message without a value, with the row from its key. Otherwise it is dropped.',
    }),
    includeSourceInMetadata: Type.Boolean({
      default: false,
      description: 'Keep what the envelope says of the source in the metadata, as source_….',
    }),
    snapshotOperation: oneOf(['insert', 'update'], {
      default: 'insert',
      description: 'What a row of a snapshot counts as.',
    }),
    addOperationFields: Type.Boolean({ default: false, description: 'Add __op and __deleted to the row.' }),
    addSourceFields: Type.Optional(
      Type.Array(Type.String({ minLength: 1 }), { description: 'What of the source to add to the row, as source_….' }),
    ),
  },
  { description: 'Takes the row out of the envelope that Debezium puts around it.', 'x-polder-bare': true },
);
