/** The formats of a response: the editor's blocks, or text made of them. */
export type ShownFormat = "json" | "markdown" | "html";

/** What to convert, and to which format. */
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
