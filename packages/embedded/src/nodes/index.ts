export { tolerates, untolerated } from './taints.ts';
