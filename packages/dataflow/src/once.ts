/** A pure function of an object that nobody changes: computed once for each, and forgotten with it. */
export function once<K extends WeakKey, V>(compute: (of: K) => V): (of: K) => V {
  const computed = new WeakMap<K, { readonly value: V }>();
  return (of) => {
    const known = computed.get(of) ?? { value: compute(of) };
    computed.set(of, known);
    return known.value;
  };
}
