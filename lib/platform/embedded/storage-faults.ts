import { PlatformFault, type PlatformFaultCode } from "../faults.ts";

/** Primary result codes of SQLite; extended codes contain them in the low byte. */
const SQLITE_CODES: Readonly<Record<number, PlatformFaultCode>> = {
  5: "unavailable", // BUSY
  6: "unavailable", // LOCKED
  7: "unavailable", // NOMEM
  8: "storage_read_only", // READONLY
  10: "unavailable", // IOERR
  11: "storage_damaged", // CORRUPT
  13: "storage_full", // FULL
  14: "unavailable", // CANTOPEN
  26: "storage_damaged", // NOTADB
};

const FILE_CODES: Readonly<Record<string, PlatformFaultCode>> = {
  ENOSPC: "storage_full",
  EDQUOT: "storage_full",
  EROFS: "storage_read_only",
  EACCES: "storage_read_only",
  EPERM: "storage_read_only",
  EIO: "unavailable",
  EMFILE: "unavailable",
  ENFILE: "unavailable",
};

function codeOf(error: Error): PlatformFaultCode | undefined {
  if ("errcode" in error && typeof error.errcode === "number") return SQLITE_CODES[error.errcode & 0xff];
  if ("code" in error && typeof error.code === "string") return FILE_CODES[error.code];
  return undefined;
}

/** The platform fault for an error of SQLite or of the file system; undefined for other errors. */
export function storageFault(error: unknown): PlatformFault | undefined {
  if (error instanceof PlatformFault || !(error instanceof Error)) return undefined;
  const code = codeOf(error);
  return code === undefined ? undefined : new PlatformFault(code, error.message, { cause: error });
}

/** Returns the platform fault for a storage error, and any other error unchanged. */
export function toStorageFault(error: unknown): unknown {
  return storageFault(error) ?? error;
}
