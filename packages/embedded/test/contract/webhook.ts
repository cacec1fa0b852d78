import { once } from 'node:events';
import { createServer } from 'node:https';
import { connectionsOf } from '@polder/kube';
import { createAuthority, issue } from '@polder/kube/certificates';
import { configMap, configMaps } from './objects.ts';
import type { Body } from './wire.ts';
import { eventually, type World } from './world.ts';

export interface Review {
  readonly uid: string;
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string };
  readonly resource: { readonly group: string; readonly version: string; readonly resource: string };
  readonly requestKind: Review['kind'];
  readonly requestResource: Review['resource'];
  readonly subResource?: string;
  readonly name?: string;
  readonly namespace: string;
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';
  readonly userInfo: { readonly username: string };
  readonly object: Body | null;
  readonly oldObject: Body | null;
  readonly dryRun: boolean;
}

export type Verdict = Readonly<Record<string, unknown>>;

export interface WebhookOptions {
  readonly phase: 'Validating' | 'Mutating';
  readonly judge: (review: Review) => Verdict;
  readonly webhook?: Readonly<Record<string, unknown>>;
  /** Another address than the one that listens. */
  readonly url?: string;
}

/** A webhook on loopback that is asked about one fresh namespace alone. */
export interface Webhook extends AsyncDisposable {
  readonly namespace: string;
  readonly name: string;
  /** What it was asked, without the probes that waited for it to be taken up. */
  readonly reviews: readonly Review[];
}

const PROBE = 'probe';

export const patchOf = (...operations: readonly unknown[]) => ({
  allowed: true,
  patchType: 'JSONPatch',
  patch: Buffer.from(JSON.stringify(operations)).toString('base64'),
});

/** The verdict on an ordinary object that lets it pass. */
export const allow = (): Verdict => ({ allowed: true });

export async function startWebhook(world: World, options: WebhookOptions): Promise<Webhook> {
  const { wire } = world;
  const namespace = await world.namespace();
  const reviews: Review[] = [];
  let probed = false;

  const server = await serveReviews((text) => {
    const { request: review }: { request: Review } = JSON.parse(text);
    const isProbe = review.name === PROBE;
    probed ||= isProbe;
    if (!isProbe) reviews.push(review);
    const verdict = isProbe ? allow() : options.judge(review);
    return {
      apiVersion: 'admission.k8s.io/v1',
      kind: 'AdmissionReview',
      response: { uid: review.uid, ...verdict },
    };
  });

  const name = `${world.fresh('hook')}.example.com`;
  const collection = `/apis/admissionregistration.k8s.io/v1/${options.phase.toLowerCase()}webhookconfigurations`;
  await wire.must(
    wire.create(collection, {
      metadata: { name },
      webhooks: [
        {
          name,
          clientConfig: {
            url: options.url ?? server.url,
            caBundle: server.caBundle,
          },
          rules: [{ operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }],
          namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
          ...options.webhook,
        },
      ],
    }),
  );
  const dispose = async () => {
    await wire.delete(`${collection}/${name}`);
    await server.close();
  };
  try {
    // A server takes webhooks up in its own time. The probe stores nothing; a webhook that cannot be reached refuses it.
    await eventually(`webhook ${name} is asked`, async () => {
      const answer = await wire.create(`${configMaps(namespace)}?dryRun=All`, configMap(PROBE));
      return probed || answer.status >= 300;
    });
  } catch (error) {
    await dispose();
    throw error;
  }
  return { namespace, name, reviews, [Symbol.asyncDispose]: dispose };
}

export interface ReviewServer {
  readonly url: string;
  readonly caBundle: string;
  close(): Promise<void>;
}

/** Answers every POST over TLS, on loopback, with what `review` makes of its body. */
export async function serveReviews(review: (text: string) => unknown): Promise<ReviewServer> {
  const term = { validMs: 3_600_000, now: Date.now() };
  const authority = await createAuthority({ name: 'webhook authority', ...term });
  const serving = await issue(authority, { name: 'webhook', use: 'server', ipAddresses: ['127.0.0.1'], ...term });
  const server = createServer({ cert: serving.certificate, key: serving.key }, (request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(review(Buffer.concat(parts).toString())));
    });
  });
  const breakOff = connectionsOf(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `https://127.0.0.1:${port}/review`,
    caBundle: Buffer.from(authority.certificate).toString('base64'),
    async close() {
      const closed = once(server, 'close');
      server.close();
      breakOff();
      await closed;
    },
  };
}
