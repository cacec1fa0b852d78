import { isNumeric } from '../exact-json.ts';
import { isObject, type Json, Schema } from '../schema/schema.ts';
import { objectMeta } from './object-meta.ts';

export type ScalarShape = 'string' | 'numeric' | 'boolean' | 'untyped';

/** A list is one value as a whole (`atomic`), a set of scalars, or a map of items by some of their fields. */
export interface ListShape {
  readonly relation: 'atomic' | 'set' | 'map';
  readonly keys: readonly string[];
  /** What a key field is when an item leaves it out; undefined when the item then just has no such key. */
  keyDefault(name: string): Json | undefined;
  readonly items: Shape;
}

export interface MapShape {
  readonly isAtomic: boolean;
  /** The shape of a field that the schema names. */
  declared(name: string): Shape | undefined;
  /** The shape of all other keys; undefined when there may be none. */
  readonly others: Shape | undefined;
}

export type Form = 'map' | 'list' | 'scalar';

interface Forms {
  readonly scalar?: ScalarShape;
  readonly list?: ListShape;
  readonly map?: MapShape;
}

/**
 * How values of a schema merge and who can own which part of them: what `structured-merge-diff` reads out of a schema.
 * A schema without a type allows several forms; which one holds is then up to the value.
 */
export class Shape {
  readonly scalar: ScalarShape | undefined;
  readonly list: ListShape | undefined;
  readonly map: MapShape | undefined;

  constructor({ scalar, list, map }: Forms) {
    this.scalar = scalar;
    this.list = list;
    this.map = map;
  }

  /** The shape of whole objects of a kind. */
  static of(schema: Schema): Shape {
    let shape = SHAPES.get(schema);
    if (shape === undefined) {
      shape = shapeOf(schema, { isOpen: false, isWholeObject: true });
      SHAPES.set(schema, shape);
    }
    return shape;
  }

  /** The form to treat a value in: its own if the schema allows that, else the first that the schema allows. */
  formOf(value: Json): Form {
    if (Array.isArray(value) && this.list) return 'list';
    if (isObject(value) && this.map) return 'map';
    if (value !== null && typeof value !== 'object' && this.scalar) return 'scalar';
    if (this.map) return 'map';
    return this.scalar ? 'scalar' : 'list';
  }

  /** The shape of a map's field; what the schema does not know is one value as a whole. */
  field(name: string): Shape {
    return this.map?.declared(name) ?? this.map?.others ?? UNTYPED;
  }
}

const SHAPES = new WeakMap<Schema, Shape>();

const listOfAnything: ListShape = {
  relation: 'atomic',
  keys: [],
  keyDefault: () => undefined,
  get items() {
    return UNTYPED;
  },
};

/** Anything, owned as a whole. */
const UNTYPED: Shape = new Shape({
  scalar: 'untyped',
  list: listOfAnything,
  map: {
    isAtomic: true,
    declared: () => undefined,
    get others() {
      return UNTYPED;
    },
  },
});

/** Anything, owned by leaf: what is below `x-kubernetes-preserve-unknown-fields`. Lists are leaves. */
const DEDUCED: Shape = new Shape({
  scalar: 'untyped',
  list: listOfAnything,
  map: {
    isAtomic: false,
    declared: () => undefined,
    get others() {
      return DEDUCED;
    },
  },
});

interface Surroundings {
  /** Below a node that preserves unknown fields. */
  readonly isOpen: boolean;
  /** Has apiVersion, kind and metadata, whatever the schema says of them. */
  readonly isWholeObject: boolean;
}

function shapeOf(schema: Schema, { isOpen, isWholeObject }: Surroundings): Shape {
  const { node } = schema;
  const here: Surroundings = {
    isOpen: isOpen || node['x-kubernetes-preserve-unknown-fields'] === true,
    isWholeObject: isWholeObject || node['x-kubernetes-embedded-resource'] === true,
  };
  switch (node.type) {
    case undefined:
      return new Shape({ scalar: 'untyped', list: new SchemaList(schema, here), map: new SchemaMap(schema, here) });
    case 'object':
      return new Shape({ map: new SchemaMap(schema, here) });
    case 'array':
      return new Shape({ list: new SchemaList(schema, here) });
    case 'integer':
    case 'number':
      return new Shape({ scalar: 'numeric' });
    case 'boolean':
      return new Shape({ scalar: 'boolean' });
    default:
      return new Shape({ scalar: node.format === undefined || node.format === 'byte' ? 'string' : 'untyped' });
  }
}

/** Items and fields are looked up when they are asked for: schemas can contain themselves. */
class SchemaList implements ListShape {
  readonly relation: ListShape['relation'];
  readonly keys: readonly string[];
  readonly #items: Schema | undefined;
  readonly #isOpen: boolean;
  #shape: Shape | undefined;

  constructor(schema: Schema, { isOpen }: Surroundings) {
    const { relation, keys } = relationOf(schema);
    this.relation = relation;
    this.keys = keys;
    this.#items = schema.items;
    this.#isOpen = isOpen;
  }

  get items(): Shape {
    this.#shape ??= this.#items ? shapeOf(this.#items, { isOpen: this.#isOpen, isWholeObject: false }) : UNTYPED;
    return this.#shape;
  }

  keyDefault(name: string): Json | undefined {
    const value = this.#items?.property(name)?.node.default;
    return typeof value === 'string' || isNumeric(value) || typeof value === 'boolean' ? value : undefined;
  }
}

/** Kinds older than list types say the same with their patch strategy. */
function relationOf({ node }: Schema): Pick<ListShape, 'relation' | 'keys'> {
  const type = node['x-kubernetes-list-type'];
  if (type !== undefined) {
    return { relation: type, keys: type === 'map' ? (node['x-kubernetes-list-map-keys'] ?? []) : [] };
  }
  if (!node['x-kubernetes-patch-strategy']?.split(',').includes('merge')) return { relation: 'atomic', keys: [] };
  const key = node['x-kubernetes-patch-merge-key'];
  return key === undefined ? { relation: 'set', keys: [] } : { relation: 'map', keys: [key] };
}

const text = new Schema({ type: 'string' });

class SchemaMap implements MapShape {
  readonly isAtomic: boolean;
  readonly #schema: Schema;
  readonly #here: Surroundings;
  readonly #declared = new Map<string, Shape | undefined>();
  #others: Shape | undefined;

  constructor(schema: Schema, here: Surroundings) {
    this.isAtomic = schema.node['x-kubernetes-map-type'] === 'atomic';
    this.#schema = schema;
    this.#here = here;
  }

  declared(name: string): Shape | undefined {
    if (!this.#declared.has(name)) {
      const schema = this.#schemaOf(name);
      const shape = schema && shapeOf(schema, { isOpen: this.#here.isOpen, isWholeObject: false });
      this.#declared.set(name, shape);
    }
    return this.#declared.get(name);
  }

  #schemaOf(name: string): Schema | undefined {
    const { properties } = this.#schema.node;
    const schema = properties && Object.hasOwn(properties, name) ? this.#schema.property(name) : undefined;
    if (!this.#here.isWholeObject) return schema;
    // A custom resource's schema may restrict metadata, but what metadata is made of is not for it to say.
    if (name === 'metadata') return schema?.node.properties?.managedFields ? schema : objectMeta;
    return name === 'apiVersion' || name === 'kind' ? text : schema;
  }

  get others(): Shape | undefined {
    this.#others ??= this.#othersOf();
    return this.#others;
  }

  #othersOf(): Shape | undefined {
    const { additionalProperties, properties } = this.#schema.node;
    if (additionalProperties === undefined) {
      return this.#here.isOpen || Object.keys(properties ?? {}).length === 0 ? DEDUCED : undefined;
    }
    if (additionalProperties === true) return DEDUCED;
    if (additionalProperties === false) return undefined;
    // Undeclared names all get the schema of additionalProperties.
    const schema = this.#schema.property('');
    return schema && shapeOf(schema, { isOpen: this.#here.isOpen, isWholeObject: false });
  }
}
