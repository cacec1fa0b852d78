import { describeProblem, type FieldProblem, validate } from '@polder/kube';
import { problemWithSchedule } from '@polder/kube/cron';
import { QdrantCollectionTemplate } from '../kinds/index.ts';
import { LONGEST_LABEL, NO_TEMPLATE } from './names.ts';

type TemplateSpec = QdrantCollectionTemplate['spec'];

/** What only its author can put right. */
export interface Problem {
  /** One word for machines. */
  readonly reason: 'InvalidSpec' | 'NameUnusable' | 'NameMismatch';
  readonly because: string;
}

/** The first that is wrong with a template; what makes it useless comes before what is misleading. */
export function problemOf(template: QdrantCollectionTemplate): Problem | undefined {
  const { status: _, ...declared } = template;
  const { name } = template.metadata;
  const [invalid] = validate(QdrantCollectionTemplate, declared);
  if (invalid) return { reason: 'InvalidSpec', because: describeProblem(invalid) };
  const unusable = problemWithName(name);
  if (unusable !== undefined) return { reason: 'NameUnusable', because: `metadata.name ${unusable}` };
  const unmakeable = problemWithSpec(template.spec);
  if (unmakeable) return { reason: 'InvalidSpec', because: `spec.${unmakeable.path} ${unmakeable.message}` };
  if (template.spec.name !== name) {
    const because = `spec.name is ${template.spec.name}, but collections find the template as ${name}; both must be the same`;
    return { reason: 'NameMismatch', because };
  }
  return undefined;
}

/** Collections say in a label which template they were made from. */
export function problemWithName(name: string): string | undefined {
  if (name === NO_TEMPLATE) return `must not be ${NO_TEMPLATE}: it stands for collections without a template`;
  if (name.length > LONGEST_LABEL) return `must have at most ${LONGEST_LABEL} characters: it is put into a label`;
  return undefined;
}

/** What the schema lets pass, and nobody could make a collection from. */
export function problemWithSpec({
  vectors,
  backup,
}: Pick<TemplateSpec, 'vectors' | 'backup'>): FieldProblem | undefined {
  const { scalar, product } = vectors?.quantization ?? {};
  if (scalar && product) {
    return { path: 'vectors.quantization', message: 'has scalar and product; Qdrant takes one of them' };
  }
  if (product && product.compression === undefined) {
    return { path: 'vectors.quantization.product.compression', message: 'is required' };
  }
  const schedule = problemWithCron(backup?.schedule);
  return schedule === undefined ? undefined : { path: 'backup.schedule', message: schedule };
}

/** Nothing is no schedule, and nothing wrong. */
export function problemWithCron(schedule = ''): string | undefined {
  const problem = schedule === '' ? undefined : problemWithSchedule(schedule);
  return problem === undefined ? undefined : `must be a valid cron expression: ${problem}`;
}
