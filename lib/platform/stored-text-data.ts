import { zstdCompressSync, zstdDecompressSync } from "node:zlib";

/** Compresses the data of a text for the storage. */
export const compressTextData = (data: Uint8Array): Uint8Array => zstdCompressSync(data);

/** The data in memory of its own, so that nothing else is copied with it to another thread. */
export const decompressTextData = (stored: Uint8Array): Uint8Array =>
  stored.length === 0 ? stored : new Uint8Array(zstdDecompressSync(stored));
