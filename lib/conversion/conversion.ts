/** The formats of a response: the editor's blocks, or text generated from them. */
export type ShownFormat = "json" | "markdown" | "html";

/** What to convert, and to which format. */
export type Conversion =
  | {
      /** A Yjs state, or UTF-8 text whose paragraphs become blocks. */
      readonly from: "yjs" | "plain";
      readonly bytes: Uint8Array;
      readonly to: ShownFormat;
    }
  | {
      readonly from: "markdown";
      readonly bytes: Uint8Array;
      /** A Yjs state: of a new document, or `onto` with the blocks appended and everything else unchanged. */
      readonly to: "yjs";
      readonly onto?: Uint8Array;
    };
