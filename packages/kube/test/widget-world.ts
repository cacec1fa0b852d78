import { type OperatorOptions, operator, type State, type World } from '@polder/embedded/simulation';
import { type Client, CustomResourceDefinition, crdOf, type Product, register } from '../src/index.ts';
import { Factory, Widget, widgets } from './widgets.ts';

/** A world for simulations: the widgets' operator, and the factory that it orders from. */
export interface WidgetWorld extends World {
  readonly factory: Factory;
}

export function widgetWorld(lease?: Product['lease']): WidgetWorld {
  const factory = new Factory();
  return { factory, actors: { operator: widgetOperator(factory, lease) }, prepare: installWidgets };
}

export function widgetOperator(factory: Factory, lease?: Product['lease'], options?: OperatorOptions) {
  const controllers = [register(widgets, (world) => ({ ...world, factory }))];
  return operator(() => [{ name: 'widgets', fieldManager: 'widgets', controllers, lease }], options);
}

export async function installWidgets(client: Client): Promise<void> {
  await client.apply(CustomResourceDefinition, crdOf(Widget), { fieldManager: 'test', force: true });
}

/** The widget is as it should be, and its status says so. */
export function isReady({ metadata, spec, status }: Widget, factory: Factory): boolean {
  return (
    factory.parts.get(metadata.uid ?? '') === spec.colour &&
    status?.part === spec.colour &&
    status.observedGeneration === metadata.generation &&
    status.conditions?.some((one) => one.type === 'Ready' && one.status === 'True') === true
  );
}

/** These widgets are there, ready, and no others; nor is anything left in the factory that belongs to none. */
export const areAll =
  (...names: readonly string[]) =>
  (state: State, { factory }: WidgetWorld): boolean => {
    const all = state.list(Widget);
    return (
      all.length === names.length &&
      all.every((widget) => names.includes(widget.metadata.name) && isReady(widget, factory)) &&
      factory.parts.size === names.length
    );
  };

const ref = (name: string) => ({ namespace: 'default', name });

/** What users do with widgets. */
export const create = (name: string, colour: string) => (client: Client) =>
  client.create(Widget, { metadata: ref(name), spec: { colour } });
export const repaint = (name: string, colour: string) => (client: Client) =>
  client.patch(Widget, ref(name), { type: 'merge', body: { spec: { colour } } });
export const remove = (name: string) => (client: Client) => client.delete(Widget, ref(name));
