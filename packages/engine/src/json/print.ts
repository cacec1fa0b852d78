import { entriesOf } from './object.ts';
import { ExactNumber, isArray, isObject, type Json, type JsonObject, OrderedObject } from './value.ts';

/** Without spaces, and with no character escaped that need not be. */
export function printJson(value: Json): string {
  try {
    let text = '';
    const isOrdered = OrderedObject.isMetBy(() => (text = JSON.stringify(value)));
    return isOrdered ? printStepwise(value) : text;
  } catch (error) {
    // Deeper than the stack: no document that came in, but enough transformations can build one.
    if (error instanceof RangeError) return printStepwise(value);
    throw error;
  }
}

interface Open {
  readonly left: Iterator<readonly [string, Json]>;
  readonly closing: string;
  isFirst: boolean;
}

/** In the order the objects have, and without recursion. */
function printStepwise(root: Json): string {
  const open: Open[] = [];
  let text = '';
  const print = (value: Json) => {
    if (isArray(value)) {
      text += '[';
      open.push({ left: unnamed(value), closing: ']', isFirst: true });
    } else if (isObject(value)) {
      text += '{';
      open.push({ left: named(value), closing: '}', isFirst: true });
    } else {
      text += value instanceof ExactNumber ? value.spelling : JSON.stringify(value);
    }
  };
  print(root);
  for (let container = open.at(-1); container !== undefined; container = open.at(-1)) {
    const next = container.left.next();
    if (next.done === true) {
      text += container.closing;
      open.pop();
      continue;
    }
    const [name, value] = next.value;
    text += container.isFirst ? name : `,${name}`;
    container.isFirst = false;
    print(value);
  }
  return text;
}

function* unnamed(items: readonly Json[]): Generator<readonly [string, Json]> {
  for (const item of items) yield ['', item];
}

function* named(object: JsonObject): Generator<readonly [string, Json]> {
  for (const [key, value] of entriesOf(object)) yield [`${JSON.stringify(key)}:`, value];
}
