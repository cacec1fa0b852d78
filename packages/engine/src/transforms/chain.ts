import type { Clock } from '../clock.ts';
import type { Failure, Message } from '../message.ts';
import { type CamelCaseConfig, camelCase } from './camel-case.ts';
import { type CastConfig, cast } from './cast.ts';
import { type DebeziumUnwrapConfig, debeziumUnwrap } from './debezium-unwrap.ts';
import { type ExtractFieldConfig, extractField } from './extract-field.ts';
import { type FilterConfig, filter } from './filter.ts';
import { type FlattenConfig, flatten } from './flatten.ts';
import { type HeadersToPayloadConfig, headersToPayload } from './headers-to-payload.ts';
import { type HoistFieldConfig, hoistField } from './hoist-field.ts';
import { type InsertFieldConfig, insertField } from './insert-field.ts';
import { type MaskConfig, mask } from './mask.ts';
import { type RemoveConfig, remove } from './remove.ts';
import { type ReplaceFieldConfig, replaceField } from './replace-field.ts';
import { type RouterConfig, router } from './router.ts';
import { type SelectConfig, select } from './select.ts';
import { type SnakeCaseConfig, snakeCase } from './snake-case.ts';
import { type StructFlattenConfig, structFlatten } from './struct-flatten.ts';
import { type TimestampConfig, timestamp } from './timestamp.ts';
import { type TimezoneConfig, timezone } from './timezone.ts';
import { ConfigError, type Transform } from './transform.ts';

/** The config of each type, by the names that a DataFlow uses. */
export interface TransformConfigs {
  readonly timestamp: TimestampConfig;
  readonly flatten: FlattenConfig;
  readonly filter: FilterConfig;
  readonly mask: MaskConfig;
  readonly router: RouterConfig;
  readonly select: SelectConfig;
  readonly remove: RemoveConfig;
  readonly snakeCase: SnakeCaseConfig;
  readonly camelCase: CamelCaseConfig;
  readonly debeziumUnwrap: DebeziumUnwrapConfig;
  readonly replaceField: ReplaceFieldConfig;
  readonly headersToPayload: HeadersToPayloadConfig;
  readonly structFlatten: StructFlattenConfig;
  readonly extractField: ExtractFieldConfig;
  readonly hoistField: HoistFieldConfig;
  readonly cast: CastConfig;
  readonly timezone: TimezoneConfig;
  readonly insertField: InsertFieldConfig;
}

export type TransformType = keyof TransformConfigs;

export type TransformSpec = {
  readonly [Type in TransformType]: { readonly type: Type; readonly config: TransformConfigs[Type] };
}[TransformType];

const COMPILERS: {
  readonly [Type in TransformType]: (config: TransformConfigs[Type], clock: Pick<Clock, 'now'>) => Transform;
} = {
  timestamp,
  flatten,
  filter,
  mask,
  router,
  select,
  remove,
  snakeCase,
  camelCase,
  debeziumUnwrap,
  replaceField,
  headersToPayload,
  structFlatten,
  extractField,
  hoistField,
  cast,
  timezone,
  insertField,
};

/** One transformation of a pipeline: what it is and where in the list, for metrics and errors. */
export interface Compiled {
  readonly type: string;
  readonly index: number;
  readonly transform: Transform;
}

/** Throws a `ConfigError` whose field begins with the place in the list: `transformations[2].fields[0]`. */
export const compileTransforms = (specs: readonly TransformSpec[], clock: Pick<Clock, 'now'>): readonly Compiled[] =>
  specs.map((spec, index) => {
    try {
      return { type: spec.type, index, transform: compileTransform(spec, clock) };
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      throw new ConfigError(`transformations[${index}].${error.field}`, error.message);
    }
  });

/** Throws a `ConfigError`. */
export function compileTransform<Type extends TransformType>(
  { type, config }: { readonly type: Type; readonly config: TransformConfigs[Type] },
  clock: Pick<Clock, 'now'>,
): Transform {
  return COMPILERS[type](config, clock);
}

export interface Transformed {
  readonly outputs: readonly Message[];
  /** Each with the message as the transformation that failed was given it. */
  readonly failures: readonly TransformFailure[];
}

export interface TransformFailure extends Failure {
  readonly failed: Compiled;
}

/**
 * Takes a message through all of them, in order. One that fails on the way (of several that `flatten` made, say) does not
 * hold up the others. `step` stands around each application, for those who count and measure.
 */
export function applyAll(chain: readonly Compiled[], message: Message, step: Step = applyPlainly): Transformed {
  let messages: readonly Message[] = [message];
  const failures: TransformFailure[] = [];
  for (const compiled of chain) {
    const outputs: Message[] = [];
    for (const input of messages) {
      try {
        for (const output of step(compiled, input)) outputs.push(output);
      } catch (error) {
        // Whatever it was (also that a text became too long for the engine): it is this message's failure alone.
        failures.push(failureOf(compiled, input, error));
      }
    }
    messages = outputs;
  }
  return { outputs: messages, failures };
}

export type Step = (compiled: Compiled, message: Message) => readonly Message[];

const applyPlainly: Step = ({ transform }, message) => transform(message);

const failureOf = (failed: Compiled, message: Message, error: unknown): TransformFailure => ({
  message,
  because: `${failed.type} (transformations[${failed.index}]): ${error instanceof Error ? error.message : String(error)}`,
  type: 'transformation_error',
  isRetryable: false,
  failed,
});
