import type { PlatformFault } from "./faults.ts";

/** Whether the data folder can be written and read, as far as is known. */
export interface StorageHealth {
  /** Takes note of a storage fault: until a later check finds it gone, the storage counts as faulty. */
  observe(fault: PlatformFault): void;
  /** An error that may come from this storage, or from another one: where it does, the next check finds out. */
  suspect(error: unknown): void;
  /** Looks whether the storage can be used; answers the fault that prevents it. Never rejects. */
  check(): Promise<PlatformFault | undefined>;
}
