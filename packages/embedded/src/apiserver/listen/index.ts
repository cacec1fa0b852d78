export { type Listener, type ListenOptions, listen } from './listener.ts';
