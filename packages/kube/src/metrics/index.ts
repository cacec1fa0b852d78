export { type ControllerMetrics, Metrics, type Reconciled, type ReconcileResult } from './metrics.ts';
