/** What a scanner says of a file; `finding` names what is dangerous in it. */
export type ScanResult = { readonly isSafe: true } | { readonly isSafe: false; readonly finding: string };

/** The port of what decides whether an uploaded file is safe. */
export interface AttachmentScanner {
  /** Rejects if the file could not be scanned; the caller repeats that later. */
  scan(chunks: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<ScanResult>;
}

/** Every file is safe. */
export const NO_SCANNER: AttachmentScanner = { scan: async () => ({ isSafe: true }) };
