import { apiVersionOf, type Kind, type KubernetesObject } from '../kinds/index.ts';
import { differences } from './json-patch.ts';
import {
  type AdmissionRequest,
  type AdmissionResponse,
  type ConversionRequest,
  type Mutation,
  responseOf,
  type Verdict,
} from './review.ts';

/** Something the API server may call: takes the `request` of a review and gives its `response`. */
export interface Webhook {
  readonly review: 'AdmissionReview' | 'ConversionReview';
  readonly apiVersion: 'admission.k8s.io/v1' | 'apiextensions.k8s.io/v1';
  answer(request: { readonly uid: string }): Promise<{ readonly uid: string }>;
  /** The answer when `answer` threw. */
  failed(uid: string, message: string): { readonly uid: string };
}

/** Says yes or no to a change of an object. */
export function validating<T extends KubernetesObject>(
  kind: Kind<T>,
  validate: (request: AdmissionRequest<T>) => Verdict | Promise<Verdict>,
): Webhook {
  return admission(kind, async (request) => responseOf(request.uid, await validate(request)));
}

/** Says no, or what the object should be instead; the patch that makes it so is computed. Not called on deletions. */
export function mutating<T extends KubernetesObject>(
  kind: Kind<T>,
  mutate: (request: AdmissionRequest<T> & { readonly object: T }) => Mutation<T> | Promise<Mutation<T>>,
): Webhook {
  return admission(kind, async (request) => {
    const { uid, object } = request;
    if (object === null) return { uid, allowed: true };
    const mutation = await mutate({ ...request, object });
    const response = responseOf(uid, mutation);
    if (!mutation.allowed) return response;
    // Through JSON, as it would be stored: what is undefined is not there.
    const operations = differences(object, JSON.parse(JSON.stringify(mutation.object)));
    if (operations.length === 0) return response;
    const patch = Buffer.from(JSON.stringify(operations)).toString('base64');
    return { ...response, patchType: 'JSONPatch', patch };
  });
}

/** Makes an object of one version of a kind into that of another. What it throws is told to the user. */
export function conversion(
  convert: (object: KubernetesObject, desiredApiVersion: string) => KubernetesObject | Promise<KubernetesObject>,
): Webhook {
  return {
    review: 'ConversionReview',
    apiVersion: 'apiextensions.k8s.io/v1',
    async answer({ uid, desiredAPIVersion, objects }: ConversionRequest) {
      const convertedObjects: KubernetesObject[] = [];
      for (const object of objects) {
        // The server compares the identity of what comes back with what it sent.
        const { metadata } = object;
        const converted = await convert(object, desiredAPIVersion);
        convertedObjects.push({
          ...converted,
          apiVersion: desiredAPIVersion,
          metadata: { ...metadata, ...labelsOf(converted) },
        });
      }
      return { uid, convertedObjects, result: { status: 'Success' } };
    },
    failed: (uid, message) => ({ uid, result: { status: 'Failed', message } }),
  };
}

/** Labels and annotations are all that a conversion may change in the metadata. */
function labelsOf({
  metadata: { labels, annotations },
}: KubernetesObject): Pick<KubernetesObject['metadata'], 'labels' | 'annotations'> {
  return { ...(labels && { labels }), ...(annotations && { annotations }) };
}

function admission<T extends KubernetesObject>(
  kind: Kind<T>,
  answer: (request: AdmissionRequest<T>) => Promise<AdmissionResponse>,
): Webhook {
  return {
    review: 'AdmissionReview',
    apiVersion: 'admission.k8s.io/v1',
    async answer(request: AdmissionRequest<T>) {
      const { group, version, kind: asked } = request.kind;
      // The webhook's rules in the cluster are not ours to see; a rule too wide must not pass a stranger off as a T.
      if (group === kind.group && version === kind.version && asked === kind.kind) return await answer(request);
      const message = `this webhook is for ${apiVersionOf(kind)} ${kind.kind}, not ${apiVersionOf({ group, version })} ${asked}`;
      return responseOf(request.uid, { allowed: false, code: 400, message });
    },
    failed: (uid, message) => responseOf(uid, { allowed: false, code: 500, message }),
  };
}
