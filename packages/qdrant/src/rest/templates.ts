import { isAlreadyExists } from '@polder/kube';
import { QdrantCollectionTemplate } from '../kinds/index.ts';
import { type Answer, alreadyExists, created, invalid, list, notFound, ok } from './answer.ts';
import { type Call, MANAGED_BY } from './call.ts';
import { allOf, find } from './lookup.ts';
import { templateRequest } from './requests.ts';

export async function createTemplate(call: Call, body: Readonly<Record<string, unknown>>): Promise<Answer> {
  const asked = templateRequest(body);
  if (asked.is === 'invalid') {
    const [first = ''] = asked.details;
    // What is wrong with the name is the error itself, as upstream says it.
    return first.startsWith('name ') ? { status: 400, body: { error: first } } : invalid(asked.details);
  }
  const { value: spec } = asked;
  const { client, signal } = call;
  try {
    const metadata = { name: spec.name, labels: MANAGED_BY };
    await client.create(QdrantCollectionTemplate, { metadata, spec }, { signal });
  } catch (error) {
    if (isAlreadyExists(error)) return alreadyExists('template', spec.name);
    throw error;
  }
  return created({ id: spec.name, name: spec.name, message: 'Template created successfully' });
}

export async function listTemplates(call: Call): Promise<Answer> {
  return list((await allOf(call, QdrantCollectionTemplate)).map(itemOf));
}

export async function getTemplate(call: Call, name: string): Promise<Answer> {
  const template = await find(call, QdrantCollectionTemplate, name);
  return template ? ok(itemOf(template)) : notFound('template', name);
}

function itemOf({ metadata, spec, status }: QdrantCollectionTemplate) {
  return {
    id: metadata.name,
    name: spec.name,
    shards: spec.shards ?? 1,
    replicationFactor: spec.replicationFactor ?? 1,
    onDisk: spec.onDisk ?? true,
    vectors: spec.vectors ?? null,
    backup: spec.backup ?? null,
    usageCount: status?.usageCount ?? 0,
    lastUsed: status?.lastUsed ?? null,
  };
}
