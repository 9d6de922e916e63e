/** Limits on the content of one archive. */
export const UNPACKED_MAX_BYTES = 2 * 1024 * 1024 * 1024;
export const ENTRIES_MAX = 50_000;
/** Maximum compression ratio of a member larger than `RATIO_FREE_BYTES`. */
export const RATIO_MAX = 200;
export const RATIO_FREE_BYTES = 10 * 1024 * 1024;

/** Counts the unpacked content of an archive. Throws as soon as a limit is exceeded. */
export class Budget {
  #entries = 0;
  #bytes = 0;

  /** Counts a member by the size that the archive declares. */
  entry(bytes: number): void {
    this.#entries += 1;
    if (this.#entries > ENTRIES_MAX) throw new Error(`the archive has more than ${ENTRIES_MAX} members`);
    this.add(bytes);
  }

  add(bytes: number): void {
    this.#bytes += bytes;
    if (!Number.isSafeInteger(this.#bytes) || this.#bytes > UNPACKED_MAX_BYTES)
      throw new Error(`the unpacked archive is larger than ${UNPACKED_MAX_BYTES} bytes`);
  }
}

/** The path segments of a member; empty for the root folder. Throws if the path leads out of the folder. */
export function memberPath(name: string): string[] {
  const steps = name.split("/").filter((step) => step !== "" && step !== ".");
  if (name.startsWith("/") || /^[a-z]:/i.test(name) || /[\\\0]/.test(name) || steps.includes(".."))
    throw new Error(`the archive has a member outside of the folder: ${name.slice(0, 200)}`);
  return steps;
}
