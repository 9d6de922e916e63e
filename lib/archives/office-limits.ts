import type { ZipLimits } from "./read-zip.ts";

const MIB = 1024 * 1024;

/** Limits on the archive of an office document: parsed XML takes a multiple of its size in memory. */
export const OFFICE_LIMITS: ZipLimits = {
  entriesMax: 5_000,
  entryMaxBytes: 48 * MIB,
  totalMaxBytes: 160 * MIB,
};
