import type { PlatformFault } from "./faults.ts";

/** Whether the data folder can be read and written, as far as is known. */
export interface StorageHealth {
  /** Records a storage fault: the storage counts as faulty until a later check succeeds. */
  observe(fault: PlatformFault): void;
  /** Reports an error that may come from this storage; the next check confirms or dismisses it. */
  suspect(error: unknown): void;
  /** Tests the storage; resolves with the fault that prevents its use. Never rejects. */
  check(): Promise<PlatformFault | undefined>;
}
