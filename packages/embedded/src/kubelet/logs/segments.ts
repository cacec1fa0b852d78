/**
 * The files of one log. What is written now is in `0.log`; when it is full it becomes `0.log.1`, the next `0.log.2`, and so on: the
 * number of a segment never changes, so that a reader knows where it is while the log goes on. Renaming and opening are
 * synchronous: within this process no reader can look between the two.
 */
import { existsSync, openSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname } from 'node:path';

/** In ascending order; the last one is being written, or was when the container ended. */
export function segmentsOf(path: string): readonly number[] {
  const rotated = rotatedSegments(path);
  return [...rotated, (rotated.at(-1) ?? 0) + 1];
}

function rotatedSegments(path: string): readonly number[] {
  const prefix = `${basename(path)}.`;
  const names = existsSync(dirname(path)) ? readdirSync(dirname(path)) : [];
  const numbers = names.filter((name) => name.startsWith(prefix)).map((name) => Number(name.slice(prefix.length)));
  return numbers.filter(Number.isInteger).toSorted((a, b) => a - b);
}

export const isRotated = (path: string, segment: number) => existsSync(`${path}.${segment}`);

export function openSegment(path: string, segment: number): number {
  return openSync(isRotated(path, segment) ? `${path}.${segment}` : path, 'r');
}

/** Puts the current file aside; the caller opens a new one. */
export function rotate(path: string, maxFiles: number): void {
  renameSync(path, `${path}.${segmentsOf(path).at(-1)}`);
  for (const segment of rotatedSegments(path).slice(0, 1 - maxFiles)) rmSync(`${path}.${segment}`);
}

export function removeLog(path: string): void {
  for (const segment of rotatedSegments(path)) rmSync(`${path}.${segment}`);
  rmSync(path, { force: true });
}
