import type { Log } from "../log.ts";

let trim: ((pad: number) => number) | undefined;

/**
 * Makes the C library return freed memory to the system: after a burst, it holds tens of megabytes in fragments between
 * used blocks. Does nothing if the library has no such function.
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
    // musl has no malloc_trim and does not need it.
    log.debug("freed memory cannot be given back", { error: String(error) });
  }
}
