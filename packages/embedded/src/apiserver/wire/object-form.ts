import type { Page } from '../list/index.ts';
import { textOf, withoutType } from '../object-text.ts';
import type { ServedResource } from '../served-kinds.ts';
import { StatusError } from '../status.ts';
import type { Entry, WatchEvent } from '../watch/index.ts';
import type { Form } from './negotiation.ts';

/** One object as the client wants it. */
export function objectText(form: Form, served: ServedResource, entry: Entry): string {
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
      return entry.text;
  }
}

/** A page as the client wants it. Texts are spliced, not serialised again. */
export function pageText(form: Form, served: ServedResource, page: Page): string {
  const { kind } = served;
  const metadata = JSON.stringify({
    resourceVersion: String(page.revision),
    ...(page.continue !== undefined && { continue: page.continue }),
    ...(page.remainingItemCount !== undefined && { remainingItemCount: page.remainingItemCount }),
  });
  const list = (listKind: string, apiVersion: string, items: readonly string[]) =>
    `{"kind":"${listKind}","apiVersion":"${apiVersion}","metadata":${metadata},"items":[${items.join(',')}]}`;
  switch (form) {
    case 'metadata-list':
      return list('PartialObjectMetadataList', 'meta.k8s.io/v1', page.entries.map(metadataText));
    case 'metadata':
      throw wrongForm(`you requested PartialObjectMetadata, but the requested object is a list (${kind.listKind})`);
    case 'table':
    case 'object':
      return list(
        kind.listKind,
        served.apiVersion,
        page.entries.map(({ object, text }) => (kind.origin === 'builtin' ? withoutType(object, text) : text)),
      );
  }
}

/** One line of a watch. */
export function eventText(form: Form, served: ServedResource, event: WatchEvent): string {
  const object =
    event.type === 'ERROR'
      ? JSON.stringify(event.status)
      : event.type === 'BOOKMARK'
        ? bookmarkText(form, served, event)
        : objectText(form, served, event.entry);
  return `{"type":"${event.type}","object":${object}}\n`;
}

function bookmarkText(
  form: Form,
  { kind, apiVersion }: ServedResource,
  { revision, endsInitialEvents }: Extract<WatchEvent, { type: 'BOOKMARK' }>,
): string {
  const isPartial = form === 'metadata';
  return JSON.stringify({
    kind: isPartial ? 'PartialObjectMetadata' : kind.kind,
    apiVersion: isPartial ? 'meta.k8s.io/v1' : apiVersion,
    metadata: {
      resourceVersion: String(revision),
      ...(endsInitialEvents && { annotations: { 'k8s.io/initial-events-end': 'true' } }),
    },
  });
}

const metadataText = ({ object }: Entry) =>
  textOf({ kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: object.metadata });

const wrongForm = (message: string) => new StatusError(406, 'NotAcceptable', message);
