import type { FieldChange } from './changes.ts';
import { type Forecast, isSomething, type ManifestForecast } from './forecast.ts';

/** For people: what would be done, manifest by manifest, and a line that sums it up. */
export function printed(forecasts: readonly ManifestForecast[]): string {
  const worthTelling = forecasts.filter((one) => isSomething(one) || one.held.length > 0 || one.trouble !== undefined);
  return [...worthTelling.flatMap((one) => [...paragraph(one), '']), summary(forecasts), ''].join('\n');
}

function paragraph({ at, key, itself, objects, steps, held, trouble }: ManifestForecast): readonly string[] {
  return [
    `${line(itself)} (${key}; ${at})`,
    ...changesOf(itself, '  '),
    ...objects
      .filter(({ fate }) => fate.is !== 'unchanged')
      .flatMap((object) => [`  ${line(object)}`, ...changesOf(object, '    ')]),
    ...steps.map((step) => `  then ${step}`),
    ...held.map((step) => `  not yet: ${step}`),
    ...(trouble === undefined ? [] : [`  it would not get ready: ${trouble}`]),
  ];
}

const SIGNS = { created: '+', changed: '~', unchanged: '=', deleted: '-' } as const;

function line({ name, fate, pods }: Forecast): string {
  const because = fate.is === 'deleted' ? `: ${fate.because}` : '';
  return `${SIGNS[fate.is]} ${name} ${fate.is}${because}${pods === undefined ? '' : `; its pods ${pods}`}`;
}

function changesOf({ fate }: Forecast, indent: string): readonly string[] {
  return fate.is === 'changed' ? fate.changes.map((change) => `${indent}  ${changeLine(change)}`) : [];
}

function changeLine({ field, before, after }: FieldChange): string {
  if (before === undefined) return `+ ${field}: ${after}`;
  return after === undefined ? `- ${field}: ${before}` : `~ ${field}: ${before} → ${after}`;
}

function summary(forecasts: readonly ManifestForecast[]): string {
  if (!forecasts.some(isSomething)) return 'Nothing to do.';
  const all = forecasts.flatMap(({ itself, objects }) => [itself, ...objects]);
  const count = (is: Forecast['fate']['is']) => all.filter(({ fate }) => fate.is === is).length;
  const restarting = all.filter(({ pods }) => pods === 'are replaced').map(({ name }) => name);
  const restarts = restarting.length === 0 ? 'no pod restarts' : `the pods of ${restarting.join(', ')} restart`;
  return `${count('created')} to create, ${count('changed')} to change, ${count('deleted')} to delete; ${restarts}.`;
}
