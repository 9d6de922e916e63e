/** Maximum number of records read together, and their intended total size in bytes. */
const RECORDS_MAX = 100;
const PAGE_BYTES = 512 * 1024;

/**
 * Chooses how many records a list reads together: fewer if the previous ones were large. So every reader uses about the
 * same memory, and many slow readers of large records do not exhaust it.
 */
export class PageSize {
  #recordBytes = 0;

  get records(): number {
    return Math.max(1, Math.min(RECORDS_MAX, Math.floor(PAGE_BYTES / Math.max(1, this.#recordBytes))));
  }

  /** Records the average size of records that were read. Large records take effect at once. */
  note(recordBytes: number): void {
    this.#recordBytes = Math.max(recordBytes, (this.#recordBytes * 7 + recordBytes) / 8);
  }
}

const sizes = new WeakMap<object, PageSize>();

/** The page size of a list or an index in this process. */
export function pageSizeOf(list: object): PageSize {
  let size = sizes.get(list);
  if (size === undefined) {
    size = new PageSize();
    sizes.set(list, size);
  }
  return size;
}
