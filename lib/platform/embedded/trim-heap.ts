import type { Log } from "../log.ts";

let trim: ((pad: number) => number) | undefined;

/**
 * Has the C library give the system back what it keeps of freed memory: after a burst, tens of megabytes in pieces
 * between those that are used. Does nothing where there is no such function.
 */
export async function trimHeap(log: Pick<Log, "debug">): Promise<void> {
  if (process.platform !== "linux") return;
  try {
    if (trim === undefined) {
      const { load } = await import("koffi");
      trim = load(null).func("int malloc_trim(size_t pad)") as (pad: number) => number;
    }
    trim(0);
  } catch (error) {
    // musl has none, and needs none.
    log.debug("freed memory cannot be given back", { error: String(error) });
  }
}
