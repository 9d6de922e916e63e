/** The converter port: content of documents in other forms, made where it can do no harm. */

/** Forms that content is shown in: the blocks of the editor, and texts made of them. */
export const SHOWN_FORMATS = ["json", "markdown", "html"] as const;
export type ShownFormat = (typeof SHOWN_FORMATS)[number];

export type Conversion =
  | {
      /** A state of Yjs, or UTF-8 text, of which each paragraph becomes one. */
      readonly from: "yjs" | "plain";
      readonly bytes: Uint8Array;
      readonly to: ShownFormat;
    }
  | {
      readonly from: "markdown";
      readonly bytes: Uint8Array;
      /** A state of Yjs: of a new document, or `onto` with the blocks at its end and all else as it was. */
      readonly to: "yjs";
      readonly onto?: Uint8Array;
    };

export type Converted =
  /** Markdown or HTML without what a browser would execute; a list of blocks as JSON text; bytes of Yjs. */
  | { readonly ok: true; readonly value: string | Uint8Array }
  /** `refused`: it cannot be converted; the others: it was stopped, as it took more than it may. */
  | { readonly ok: false; readonly reason: "refused" | "timeout" | "memory" };

export interface Converter {
  /** Throws PlatformFault `unavailable` where nothing can be converted at all, `throttled` where too many wait. */
  convert(conversion: Conversion): Promise<Converted>;
}
