import { textOf } from '../object-text.ts';
import type { WireObject } from '../served-kind.ts';
import { converted, type ServedResource } from '../served-kinds.ts';
import type { Entry } from '../watch/index.ts';

const conversions = new WeakMap<Entry, Map<string, Entry>>();

/** Entries in the version that is served. Mostly they are stored in it, and nothing happens. */
export function inServedVersion(
  served: ServedResource,
  entries: readonly Entry[],
): readonly Entry[] | Promise<readonly Entry[]> {
  const others = entries.filter((entry) => entry.object.apiVersion !== served.apiVersion);
  return others.length === 0 ? entries : convertAll(served, entries, others);
}

async function convertAll(
  served: ServedResource,
  entries: readonly Entry[],
  others: readonly Entry[],
): Promise<readonly Entry[]> {
  const missing = others.filter((entry) => conversions.get(entry)?.has(served.apiVersion) !== true);
  const objects = await served.conversion.convert(
    missing.map(({ object }) => object),
    served.apiVersion,
  );
  for (const [index, entry] of missing.entries()) {
    const object = objects[index];
    if (object === undefined) continue;
    const versions = conversions.get(entry) ?? new Map<string, Entry>();
    versions.set(served.apiVersion, { ...entry, object, text: textOf(object) });
    conversions.set(entry, versions);
  }
  return entries.map((entry) => conversions.get(entry)?.get(served.apiVersion) ?? entry);
}

export async function oneInServedVersion(served: ServedResource, entry: Entry): Promise<Entry> {
  const [one = entry] = await inServedVersion(served, [entry]);
  return one;
}

/** The object as it is stored: in the storage version of its resource. */
export function storedForm({ conversion }: ServedResource, object: WireObject): Promise<WireObject> {
  return converted({ conversion, apiVersion: conversion.storageVersion }, object);
}
