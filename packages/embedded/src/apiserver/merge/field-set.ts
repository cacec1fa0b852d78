import { compareElements, type FieldPath, type PathElement } from './path-element.ts';

/**
 * A set of field paths, as a tree of their elements. Immutable.
 *
 * A node stands for the path that leads to it: `isMember` says whether that path itself is in the set. A parent is not in
 * a set because its children are: `{ .data.a }` does not own `.data`, and that is what decides who may remove it.
 */
export class FieldSet {
  static readonly empty = new FieldSet(false, new Map());
  static readonly leaf = new FieldSet(true, new Map());

  readonly isMember: boolean;
  readonly children: ReadonlyMap<PathElement, FieldSet>;

  private constructor(isMember: boolean, children: ReadonlyMap<PathElement, FieldSet>) {
    this.isMember = isMember;
    this.children = children;
  }

  static node(isMember: boolean, children: Iterable<readonly [PathElement, FieldSet]>): FieldSet {
    const kept = new Map<PathElement, FieldSet>();
    for (const [element, child] of children) if (!child.isEmpty) kept.set(element, child);
    if (kept.size > 0) return new FieldSet(isMember, kept);
    return isMember ? FieldSet.leaf : FieldSet.empty;
  }

  static of(paths: Iterable<FieldPath>): FieldSet {
    const builder = new FieldSetBuilder();
    for (const path of paths) builder.insert(path);
    return builder.build();
  }

  get isEmpty(): boolean {
    return !this.isMember && this.children.size === 0;
  }

  /** The part of the set below an element, with the element's own membership. */
  at(element: PathElement): FieldSet {
    return this.children.get(element) ?? FieldSet.empty;
  }

  has(path: FieldPath): boolean {
    return path.reduce<FieldSet>((set, element) => set.at(element), this).isMember;
  }

  union(other: FieldSet): FieldSet {
    if (this.isEmpty) return other;
    const children = new Map(this.children);
    for (const [element, child] of other.children) children.set(element, this.at(element).union(child));
    return FieldSet.node(this.isMember || other.isMember, children);
  }

  intersection(other: FieldSet): FieldSet {
    return FieldSet.node(
      this.isMember && other.isMember,
      this.#each((child, element) => child.intersection(other.at(element))),
    );
  }

  /** Without the paths of `other`; what is below them stays. */
  difference(other: FieldSet): FieldSet {
    return FieldSet.node(
      this.isMember && !other.isMember,
      this.#each((child, element) => child.difference(other.at(element))),
    );
  }

  /** Without the paths of `other` and everything below them. */
  without(other: FieldSet): FieldSet {
    if (other.isMember) return FieldSet.empty;
    return FieldSet.node(
      this.isMember,
      this.#each((child, element) => child.without(other.at(element))),
    );
  }

  /** The members that have no members below them. */
  leaves(): FieldSet {
    return FieldSet.node(
      this.isMember && this.children.size === 0,
      this.#each((child) => child.leaves()),
    );
  }

  equals(other: FieldSet): boolean {
    if (this.isMember !== other.isMember || this.children.size !== other.children.size) return false;
    return this.children.entries().every(([element, child]) => child.equals(other.at(element)));
  }

  /** Every path in the set, in the order of the real server: the members of a level before what is below any of them. */
  *paths(prefix: FieldPath = []): Generator<FieldPath> {
    const elements = this.elements();
    for (const element of elements) if (this.at(element).isMember) yield [...prefix, element];
    for (const element of elements) yield* this.at(element).paths([...prefix, element]);
  }

  /** The elements of this level, in canonical order. */
  elements(): readonly PathElement[] {
    return [...this.children.keys()].toSorted(compareElements);
  }

  *#each(change: (child: FieldSet, element: PathElement) => FieldSet): Generator<readonly [PathElement, FieldSet]> {
    for (const [element, child] of this.children) yield [element, change(child, element)];
  }
}

interface GrowingNode {
  isMember: boolean;
  readonly children: Map<PathElement, GrowingNode>;
}

/** Collects paths one by one, for walks that find them that way. */
export class FieldSetBuilder {
  readonly #root: GrowingNode = { isMember: false, children: new Map() };

  insert(path: FieldPath): void {
    if (path.length === 0) return;
    let node = this.#root;
    for (const element of path) {
      let child = node.children.get(element);
      if (child === undefined) node.children.set(element, (child = { isMember: false, children: new Map() }));
      node = child;
    }
    node.isMember = true;
  }

  build(): FieldSet {
    return freeze(this.#root);
  }
}

function freeze(node: GrowingNode): FieldSet {
  return FieldSet.node(
    node.isMember,
    node.children.entries().map(([element, child]) => [element, freeze(child)] as const),
  );
}
