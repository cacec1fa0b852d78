export type { Verdict } from './proposal.ts';
export { RaftGroup } from './raft-group.ts';
export { type RaftHost, RaftNode } from './raft-node.ts';
