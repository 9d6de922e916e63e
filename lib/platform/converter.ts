import type { Conversion } from "../conversion/conversion.ts";

export type { Conversion, ShownFormat } from "../conversion/conversion.ts";

export type Converted =
  /** Markdown or HTML without what a browser would execute; a list of blocks as JSON text; bytes of Yjs. */
  | { readonly ok: true; readonly value: string | Uint8Array }
  /** `refused`: it cannot be converted; the others: it was stopped, as it took more than it may. */
  | { readonly ok: false; readonly reason: "refused" | "timeout" | "memory" };

/** The converter port: converts the content of documents in an isolated process. */
export interface Converter {
  /** Throws PlatformFault `unavailable` where nothing can be converted at all, `throttled` where too many wait. */
  convert(conversion: Conversion): Promise<Converted>;
}
