import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FieldSet } from './field-set.ts';
import { parseFieldsV1, printFieldsV1 } from './fields-v1.ts';
import { type FieldPath, fieldElement, keyElement, printPath, valueElement } from './path-element.ts';

const element = fc.oneof(
  fc.constantFrom('a', 'b', 'c').map(fieldElement),
  fc.constantFrom('x', 'y').map((name) => keyElement([['name', name]])),
  fc.constantFrom(1, 2, 10).map((port) =>
    keyElement([
      ['port', port],
      ['protocol', 'TCP'],
    ]),
  ),
  fc.constantFrom<string | number | boolean>('v', '<w>', 2, 10, true).map(valueElement),
);
const paths = fc.array(fc.array(element, { minLength: 1, maxLength: 4 }), { maxLength: 12 });
const sets = paths.map((list) => FieldSet.of(list));

/** A set is nothing but its paths: the model is a set of their texts. */
const model = (set: FieldSet) => new Set([...set.paths()].map(printed));
const printed = (path: FieldPath) => path.join(' ');

describe('a field set', () => {
  it('holds the paths that it was made of, each once', () => {
    fc.assert(
      fc.property(paths, (list) => {
        const set = FieldSet.of(list);
        expect(model(set)).toEqual(new Set(list.map(printed)));
        expect([...set.paths()]).toHaveLength(model(set).size);
        expect(list.every((path) => set.has(path))).toBe(true);
        expect(set.isEmpty).toBe(list.length === 0);
      }),
    );
  });

  it('has union, intersection and difference of sets of paths', () => {
    fc.assert(
      fc.property(sets, sets, (a, b) => {
        expect(model(a.union(b))).toEqual(model(a).union(model(b)));
        expect(model(a.intersection(b))).toEqual(model(a).intersection(model(b)));
        expect(model(a.difference(b))).toEqual(model(a).difference(model(b)));
        expect(a.union(b).equals(b.union(a))).toBe(true);
        expect(a.difference(b).union(a.intersection(b)).equals(a)).toBe(true);
        expect(a.equals(b)).toBe(model(a).symmetricDifference(model(b)).size === 0);
      }),
    );
  });

  it('without another has nothing that is in or below the other', () => {
    fc.assert(
      fc.property(sets, sets, (a, b) => {
        const others = [...model(b)];
        const isUnder = (path: string) => others.some((other) => `${path} `.startsWith(`${other} `));
        expect(model(a.without(b))).toEqual(new Set([...model(a)].filter((path) => !isUnder(path))));
      }),
    );
  });

  it('has as leaves the paths that no other path goes through', () => {
    fc.assert(
      fc.property(sets, (set) => {
        const all = [...model(set)];
        const leaves = all.filter((path) => !all.some((other) => other.startsWith(`${path} `)));
        expect(model(set.leaves())).toEqual(new Set(leaves));
      }),
    );
  });
});

describe('FieldsV1', () => {
  it('says the same after printing and parsing', () => {
    fc.assert(
      fc.property(sets, (set) => {
        expect(parseFieldsV1(printFieldsV1(set))?.equals(set)).toBe(true);
      }),
    );
  });

  it('prints elements in the order of the real server', () => {
    const set = FieldSet.of([
      [fieldElement('tags'), valueElement('b')],
      [fieldElement('tags'), valueElement(10)],
      [fieldElement('tags'), valueElement(9)],
      [fieldElement('tags')],
      [
        fieldElement('ports'),
        keyElement([
          ['protocol', 'UDP'],
          ['port', 80],
        ]),
      ],
      [
        fieldElement('ports'),
        keyElement([
          ['protocol', 'TCP'],
          ['port', 443],
        ]),
      ],
      [
        fieldElement('ports'),
        keyElement([
          ['protocol', 'TCP'],
          ['port', 80],
        ]),
      ],
    ]);
    expect(JSON.stringify(printFieldsV1(set))).toBe(
      JSON.stringify({
        'f:ports': {
          'k:{"port":80,"protocol":"TCP"}': {},
          'k:{"port":80,"protocol":"UDP"}': {},
          'k:{"port":443,"protocol":"TCP"}': {},
        },
        'f:tags': { '.': {}, 'v:9': {}, 'v:10': {}, 'v:"b"': {} },
      }),
    );
  });

  it('reads keys in any spelling as the same item', () => {
    const spelled = parseFieldsV1({ 'f:ports': { 'k:{"protocol": "TCP", "port": 80}': {} } });
    expect(
      spelled?.has([
        fieldElement('ports'),
        keyElement([
          ['port', 80],
          ['protocol', 'TCP'],
        ]),
      ]),
    ).toBe(true);
  });

  it.each([{ 'x:a': {} }, { 'f:a': 1 }, { 'k:nonsense': {} }, { 'v:': {} }, { 'i:x': {} }, [], null])(
    'does not accept %j',
    (fields) => {
      expect(parseFieldsV1(fields)).toBeUndefined();
    },
  );
});

describe('a path', () => {
  it('prints as people write it', () => {
    const path = [
      fieldElement('spec'),
      fieldElement('ports'),
      keyElement([
        ['port', 80],
        ['protocol', 'TCP'],
      ]),
      'i:0',
    ];
    expect(printPath(path)).toBe('.spec.ports[port=80,protocol="TCP"][0]');
    expect(printPath([fieldElement('tags'), valueElement('a')])).toBe('.tags[="a"]');
  });
});
