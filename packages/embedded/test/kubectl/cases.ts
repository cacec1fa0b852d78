import type { Kubectl } from './kubectl.ts';

/** One thing a user does with kubectl, in words, and what must be seen. */
export interface Case {
  readonly promise: string;
  readonly keeps: (kubectl: Kubectl) => Promise<void>;
}

type Declare = (promise: string, keeps: Case['keeps']) => void;

export function cases(declare: (promise: Declare) => void): readonly Case[] {
  const all: Case[] = [];
  declare((promise, keeps) => all.push({ promise, keeps }));
  return all;
}

export { expect } from 'vitest';
