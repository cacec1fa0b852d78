import type { AliasAction } from '../../api/index.ts';
import type { QdrantCollection } from '../../kinds/index.ts';
import type { Observed } from '../observe.ts';
import type { Situation } from './situation.ts';
import type { CollectionStep } from './step.ts';

/** One step for each alias, so that each is judged by itself; those that may be taken go into one request. */
export function aliasing(situation: Situation): readonly CollectionStep[] {
  const { collection, server, seen, ledger, via } = situation;
  if (!server || !seen || !via) return [];
  const { name } = collection.metadata;
  const { aliases: declared = [] } = collection.spec;
  const step = (action: AliasAction, because: string): CollectionStep => {
    return { do: 'change-aliases', because, via, collection: name, actions: [action] };
  };
  const missing = declared
    .filter((alias) => server.aliases.get(alias) !== name)
    .map((alias) => {
      const other = server.aliases.get(alias);
      const because = other === undefined ? `there is no alias ${alias}` : `alias ${alias} points to ${other}`;
      return step({ is: 'create', alias, collection: name }, because);
    });
  const left = ledger.aliases
    .filter((alias) => !declared.includes(alias) && server.aliases.get(alias) === name)
    .map((alias) => step({ is: 'delete', alias }, `spec.aliases does not name ${alias} any more`));
  return [...missing, ...left];
}

/** The server carries them out one by one, and stops at the first that fails: what became of them is seen by the next pass. */
export function inOneRequest(steps: readonly CollectionStep[]): readonly CollectionStep[] {
  const all = steps.filter((step) => step.do === 'change-aliases');
  const [first] = all;
  if (!first || all.length < 2) return steps;
  const because = all.map((step) => step.because).join('; ');
  const whole: CollectionStep = { ...first, because, actions: all.flatMap(({ actions }) => actions) };
  return [...steps.filter((step) => step.do !== 'change-aliases'), whole];
}

/**
 * Why an alias would be stolen. It is another collection's if that is declared and either names it or has it from somebody
 * else. What another one no longer names, and had from us, is on its way here.
 */
export function thiefOf(alias: string, { metadata }: QdrantCollection, observed: Observed): string | undefined {
  if (!observed.server.known) return undefined;
  const { aliases, collections } = observed.server.value;
  if (collections.includes(alias)) return `${alias} is the name of a collection`;
  const holder = aliases.get(alias);
  if (holder === undefined || holder === metadata.name) return undefined;
  const owner = observed.siblings.find((one) => one.metadata.name === holder);
  if (!owner) return undefined;
  const isReleased = owner.status?.aliases?.includes(alias) === true && !owner.spec.aliases?.includes(alias);
  const isGoing = owner.metadata.deletionTimestamp !== undefined;
  return isReleased || isGoing
    ? undefined
    : `alias ${alias} points to ${holder}, which is a QdrantCollection of its own; take it out of its spec.aliases first`;
}
