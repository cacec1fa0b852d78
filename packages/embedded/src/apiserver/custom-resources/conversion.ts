import { parseJson } from '../exact-json.ts';
import { asText, asWire } from '../object-text.ts';
import type { CrdConversion } from '../schema/crd.ts';
import { isObject } from '../schema/index.ts';
import type { WireObject } from '../served-kind.ts';
import type { Conversion } from '../served-kinds.ts';
import { StatusError } from '../status.ts';
import type { WebhookCaller } from '../webhooks/index.ts';

/** Real servers give a conversion webhook half a minute. */
const TIMEOUT = 30_000;

/** Conversion by the author of the definition: a whole list goes in one request. */
export function webhookConversion(
  storageVersion: string,
  webhook: NonNullable<CrdConversion['webhook']>,
  webhooks: WebhookCaller,
): Conversion {
  const apiVersion = `apiextensions.k8s.io/${webhook.conversionReviewVersions?.[0] ?? 'v1'}`;
  return {
    storageVersion,
    async convert(objects, desiredAPIVersion) {
      if (objects.length === 0) return [];
      const uid = webhooks.requestId();
      const request = { uid, desiredAPIVersion, objects };
      const text = await webhooks
        .call(webhook.clientConfig ?? {}, { kind: 'ConversionReview', apiVersion, request }, TIMEOUT)
        .catch((error: unknown) => {
          throw failed(objects, desiredAPIVersion, String(error instanceof Error ? error.message : error));
        });
      return convertedBy(text, objects, desiredAPIVersion);
    },
  };
}

function convertedBy(text: string, objects: readonly WireObject[], desired: string): readonly WireObject[] {
  const review = parseJson(text);
  const response = isObject(review) && isObject(review['response']) ? review['response'] : {};
  const { result, convertedObjects } = response;
  if (isObject(result) && result['status'] !== 'Success') {
    throw failed(objects, desired, asText(result['message']));
  }
  if (!Array.isArray(convertedObjects) || convertedObjects.length !== objects.length) {
    const count = Array.isArray(convertedObjects) ? convertedObjects.length : 0;
    throw failed(objects, desired, `returned ${count} objects, expected ${objects.length}`);
  }
  // Webhooks may change labels and annotations of the metadata; who the object is stays.
  return objects.map((object, index) => {
    const converted = convertedObjects[index];
    if (!isObject(converted)) throw failed(objects, desired, `returned no object at index ${index}`);
    const { labels, annotations } = asWire(converted).metadata;
    const { labels: _, annotations: __, ...metadata } = object.metadata;
    return asWire({
      ...converted,
      metadata: { ...metadata, ...(labels && { labels }), ...(annotations && { annotations }) },
    });
  });
}

function failed(objects: readonly WireObject[], desired: string, why: string): StatusError {
  const { apiVersion, kind } = objects[0] ?? { apiVersion: '', kind: '' };
  const message = `conversion webhook for ${apiVersion}, Kind=${kind} failed: ${why}`;
  return new StatusError(500, 'InternalError', `Internal error occurred: ${message}`, {
    causes: [{ message: `${message} (to ${desired})` }],
  });
}
