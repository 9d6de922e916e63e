import type { Conversion } from "../conversion/conversion.ts";

export type { Conversion, OutputFormat as ShownFormat } from "../conversion/conversion.ts";

export type ConversionResult =
  /** Sanitized Markdown or HTML, a list of blocks as JSON text, or a binary Yjs update. */
  | { readonly ok: true; readonly value: string | Uint8Array }
  /**
   * `refused`: the content cannot be converted; `message` is a sentence that says why, if users can be told. Otherwise
   * the conversion exceeded its time or memory limit.
   */
  | {
      readonly ok: false;
      readonly reason: "refused" | "timeout" | "memory";
      readonly message?: string | undefined;
    };

export interface ConversionOptions {
  /** Part of an import or an export, which other conversions do not wait for. */
  readonly isBackground?: boolean;
}

/** The converter port: converts the content of documents in an isolated process. */
export interface Converter {
  /** Throws PlatformFault `unavailable` if the converter cannot run, and `throttled` if too many conversions wait. */
  convert(conversion: Conversion, options?: ConversionOptions): Promise<ConversionResult>;
}
