/** A file that a bundle was made of: size in bytes, times in milliseconds. */
export interface Stamp {
  /** From the root. */
  readonly path: string;
  readonly size: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
  /** SHA-256 of what it held. */
  readonly hash: string;
}

export function cacheOf(root: string): string;
export function findBundle(root: string, cache: string): string | undefined;
export function bundlesIn(cache: string): string[];
export function stampOf(root: string, path: string): Stamp;
export function writeManifest(folder: string, root: string, inputs: readonly Stamp[]): void;
export function removeBundle(folder: string): void;
export function removeDrafts(cache: string): void;
export function useBundle(folder: string): void;
export function isInUse(folder: string): boolean;
