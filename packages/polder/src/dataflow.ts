/** The DataFlow operator as a product of this program. */
import { DataFlow, DEFAULTS, dataflow, metricsOverHttp, settingsIn } from '@polder/dataflow';
import { describeErrors, validate } from '@polder/engine/spec';
import { type Resolve, validatingSpecs } from '@polder/kube';
import { dataflowIntervals } from './intervals.ts';
import { getPage } from './operator/page.ts';
import type { BuiltInProduct } from './products.ts';
import { version } from './version.ts';

/** This program, as an image; and what processors run where nobody says otherwise. */
export const PROCESSOR_IMAGE = 'polder/processor';

export const dataflowProduct: BuiltInProduct = {
  name: 'dataflow',
  kinds: [DataFlow],
  fieldManager: 'dataflow-operator',
  lease: 'dataflow-operator.dataflow.io',
  intervals: dataflowIntervals,
  controllers({ clock, intervals: durations, resolve, env, log }) {
    const { metricsInterval: metricsMs = 0, countsInterval: countsMs = 0 } = durations;
    const given = settingsIn(env);
    const image = given.operator ? {} : { processorImage: `${PROCESSOR_IMAGE}:${version}` };
    const settings = {
      ...DEFAULTS,
      ...image,
      ...given,
      inlineSecrets: env['INLINE_SECRETS'] === 'true',
      secretNamespaces: (env['SECRET_NAMESPACES'] ?? '').split(',').filter((name) => name !== ''),
      intervals: { metricsMs, countsMs },
    };
    return dataflow({ settings, readMetrics: metricsOverHttp(pageAt(resolve)), clock, log }).controllers;
  },
  webhooks: () => [
    {
      name: 'vdataflow.dataflow.dataflow.io',
      path: '/validate-dataflow-dataflow-io-v1-dataflow',
      kind: DataFlow,
      webhook: validatingSpecs(DataFlow, ({ spec }) => {
        const { errors, warnings } = validate(spec);
        return { objection: errors.length === 0 ? undefined : describeErrors(errors), warnings };
      }),
    },
  ],
  gauges: (cached) => [
    {
      name: 'dataflow_status',
      help: '1 for the phase that a DataFlow is in, 0 for the others',
      samples: cached
        .list(DataFlow)
        .flatMap(({ metadata: { namespace = '', name }, status }) =>
          PHASES.map((phase) => ({ labels: { namespace, name, phase }, value: status?.phase === phase ? 1 : 0 })),
        ),
    },
  ],
  meters: { labelSelector: 'app=dataflow-processor', port: 9090, prefix: 'dataflow_' },
};

const PHASES = ['Pending', 'Running', 'Error', 'Stopped'];

const pageAt = (resolve: Resolve) => (url: string, signal: AbortSignal) => {
  const { host, pathname } = new URL(url);
  return getPage(`http://${resolve(host)}${pathname}`, signal);
};
