import { printJson } from '../exact-json.ts';
import type { Page } from '../list/index.ts';
import { textOf, withoutType } from '../object-text.ts';
import type { ServedResource } from '../served-kinds.ts';
import { StatusError } from '../status.ts';
import { type IncludeObject, table } from '../tables/index.ts';
import type { Entry, WatchEvent } from '../watch/index.ts';
import type { Form } from './negotiation.ts';

/** How the objects of one answer are shown. */
export interface Showing {
  readonly form: Form;
  readonly served: ServedResource;
  readonly now: number;
  /** What the rows of a table carry along. */
  readonly include: IncludeObject;
}

/** One object as the client wants it. */
export function objectText(showing: Showing, entry: Entry): string {
  const { form, served, now, include } = showing;
  switch (form) {
    case 'object':
      return entry.text;
    case 'metadata':
      return metadataText(entry);
    case 'metadata-list':
      throw wrongForm(
        `you requested PartialObjectMetadataList, but the requested object is not a list (${served.kind.kind})`,
      );
    case 'table':
      return printJson(table(served.kind, [entry.object], now, include));
  }
}

/** A page as the client wants it. Texts are spliced, not serialised again. */
export function pageText({ form, served, now, include }: Showing, page: Page): string {
  const { kind } = served;
  const meta = {
    resourceVersion: String(page.revision),
    ...(page.continue !== undefined && { continue: page.continue }),
    ...(page.remainingItemCount !== undefined && { remainingItemCount: page.remainingItemCount }),
  };
  const list = (listKind: string, apiVersion: string, items: readonly string[]) =>
    `{"kind":"${listKind}","apiVersion":"${apiVersion}","metadata":${JSON.stringify(meta)},"items":[${items.join(',')}]}`;
  switch (form) {
    case 'metadata-list':
      return list('PartialObjectMetadataList', 'meta.k8s.io/v1', page.entries.map(metadataText));
    case 'metadata':
      throw wrongForm(`you requested PartialObjectMetadata, but the requested object is a list (${kind.listKind})`);
    case 'table': {
      const objects = page.entries.map(({ object }) => object);
      return printJson({ ...table(kind, objects, now, include), metadata: meta });
    }
    case 'object':
      return list(
        kind.listKind,
        served.apiVersion,
        page.entries.map(({ object, text }) => (kind.origin === 'builtin' ? withoutType(object, text) : text)),
      );
  }
}

/** The lines of one watch. Only the first table of a watch says what its columns are. */
export function eventTexts(showing: Showing): (event: WatchEvent) => string {
  let hasColumns = false;
  const tableText = (entry: Entry) => {
    const whole = table(showing.served.kind, [entry.object], showing.now, showing.include);
    const shown = hasColumns ? { ...whole, columnDefinitions: null } : whole;
    hasColumns = true;
    return printJson(shown);
  };
  return (event) => {
    const object =
      event.type === 'ERROR'
        ? JSON.stringify(event.status)
        : event.type === 'BOOKMARK'
          ? bookmarkText(showing, event)
          : showing.form === 'table'
            ? tableText(event.entry)
            : objectText(showing, event.entry);
    return `{"type":"${event.type}","object":${object}}\n`;
  };
}

function bookmarkText(
  { form, served, now, include }: Showing,
  { revision, endsInitialEvents }: Extract<WatchEvent, { type: 'BOOKMARK' }>,
): string {
  const metadata = {
    resourceVersion: String(revision),
    ...(endsInitialEvents && { annotations: { 'k8s.io/initial-events-end': 'true' } }),
  };
  switch (form) {
    case 'table': {
      const marked = table(served.kind, [], now, include);
      const object = { kind: served.kind.kind, apiVersion: served.apiVersion, metadata };
      return JSON.stringify({
        ...marked,
        metadata: { resourceVersion: String(revision) },
        rows: [{ cells: [], object }],
      });
    }
    case 'metadata':
    case 'metadata-list':
      return JSON.stringify({ kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata });
    case 'object':
      return JSON.stringify({ kind: served.kind.kind, apiVersion: served.apiVersion, metadata });
  }
}

const metadataText = ({ object }: Entry) =>
  textOf({ kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: object.metadata });

const wrongForm = (message: string) => new StatusError(406, 'NotAcceptable', message);
