import type { Conversion } from "../conversion/conversion.ts";

export type { Conversion, OutputFormat as ShownFormat } from "../conversion/conversion.ts";

export type ConversionResult =
  /** Sanitized Markdown or HTML, a list of blocks as JSON text, or a binary Yjs update. */
  | { readonly ok: true; readonly value: string | Uint8Array }
  /** `refused`: the content cannot be converted. Otherwise the conversion exceeded its time or memory limit. */
  | { readonly ok: false; readonly reason: "refused" | "timeout" | "memory" };

/** The converter port: converts the content of documents in an isolated process. */
export interface Converter {
  /** Throws PlatformFault `unavailable` if the converter cannot run, and `throttled` if too many conversions wait. */
  convert(conversion: Conversion): Promise<ConversionResult>;
}
