/** The formats of a response: the editor's blocks, or text generated from them. */
export type OutputFormat = "json" | "markdown" | "html";

/** Files that the editor's own writers produce, if the installation has them: `PUBLISH_AS_MIT=false`. */
export type EditorFormat = "docx-editor" | "odt-editor" | "pdf-editor";

/** What to convert, and to which format. */
export type Conversion =
  | {
      /** A Yjs state, or UTF-8 text whose paragraphs become blocks. */
      readonly from: "yjs" | "plain";
      readonly bytes: Uint8Array;
      readonly to: OutputFormat | EditorFormat;
    }
  | {
      readonly from: "markdown";
      readonly bytes: Uint8Array;
      /** A Yjs state of a new document. */
      readonly to: "yjs";
    }
  | {
      readonly from: "yjs" | "plain" | "markdown";
      readonly bytes: Uint8Array;
      /** A Yjs update (version 1 encoding) that gives `base` this content; empty if nothing changes. */
      readonly to: "update";
      /** The Yjs state to change. */
      readonly base: Uint8Array;
      /** Adds the content at the end instead of replacing what is there; not from a Yjs state. */
      readonly append?: boolean;
    };
