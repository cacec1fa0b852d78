import type { Answer, TableName } from '../../iceberg/index.ts';

/** The table after a commit of its branch. */
export interface TableState {
  /** Of Nessie. */
  readonly commit: string;
  /** Undefined: the table was empty still. */
  readonly snapshotId: bigint | undefined;
  /** Another one: the table was dropped, and a new one has its name. */
  readonly contentId: string;
}

export interface HistoryPage {
  /** The latest first. */
  readonly states: readonly TableState[];
  /** The table was dropped before: what is older is another table's. */
  readonly isOver: boolean;
  /** Undefined: there is no more. */
  readonly next: string | undefined;
}

const PAGE = 100;
/** How Nessie writes a dot within a name where dots part names. */
const DOT = '\u001d';

export function historyQuery({ namespace, table }: TableName, token: string | undefined): string {
  const key = [...namespace, table].map((element) => element.replaceAll('.', DOT)).join('.');
  return new URLSearchParams({
    fetch: 'ALL',
    'max-records': String(PAGE),
    filter: `operations.exists(op, op.key == ${celText(key)})`,
    ...(token !== undefined && { 'page-token': token }),
  }).toString();
}

export function historyPage(answer: Answer, { namespace, table }: TableName): HistoryPage {
  const states: TableState[] = [];
  const wanted = [...namespace, table].join('\u0000');
  for (const entry of answer.field('logEntries').list) {
    const operation = entry.field('operations').list.find((one) => {
      const elements = one
        .field('key')
        .field('elements')
        .list.map(({ text }) => text);
      return elements.join('\u0000') === wanted;
    });
    if (operation === undefined) continue;
    const type = operation.field('type').text;
    if (type === 'DELETE') return { states, isOver: true, next: undefined };
    if (type !== 'PUT') continue;
    const content = operation.field('content');
    const contentId = content.field('id').text;
    const last = states.at(-1);
    if (last !== undefined && last.contentId !== contentId) return { states, isOver: true, next: undefined };
    const snapshotId = content.field('snapshotId').long;
    const commit = entry.field('commitMeta').field('hash').text;
    states.push({ commit, snapshotId: snapshotId === -1n ? undefined : snapshotId, contentId });
  }
  const next = answer.field('hasMore').isGiven && answer.field('hasMore').flag ? answer.field('token').text : undefined;
  return { states, isOver: false, next };
}

/** A text of Nessie's filter language. */
const celText = (text: string): string => `'${text.replace(/[\\']/g, (char) => `\\${char}`)}'`;
