/** The formats of a response: the editor's blocks, or text generated from them. */
export type OutputFormat = "json" | "markdown" | "html";

/** Files that the editor's own writers produce, if the installation has them: `PUBLISH_AS_MIT=false`. */
export type EditorFormat = "docx-editor" | "odt-editor" | "pdf-editor";

/** The formats of files that documents are imported from; blocks are what a conversion service returns. */
export type ImportFormat = "markdown" | "plain" | "html" | "docx" | "odt" | "blocks";

/** What to convert, and to which format. */
export type Conversion =
  | {
      /** A Yjs state, UTF-8 text whose paragraphs become blocks, Markdown, or a list of blocks as JSON. */
      readonly from: "yjs" | "plain" | "markdown" | "blocks";
      readonly bytes: Uint8Array;
      readonly to: OutputFormat | EditorFormat;
    }
  | {
      readonly from: "markdown" | "blocks";
      readonly bytes: Uint8Array;
      /** A Yjs state of a new document. */
      readonly to: "yjs";
    }
  | {
      readonly from: ImportFormat;
      readonly bytes: Uint8Array;
      /** An ImportedPage, encoded. */
      readonly to: "page";
      /** A first heading with this text is the document's title, and not part of its content. */
      readonly title?: string;
    }
  | {
      readonly from: "yjs";
      readonly bytes: Uint8Array;
      /** A Yjs state of a new document with the same content, in which URLs of links and media are replaced. */
      readonly to: "yjs";
      readonly urls: Readonly<Record<string, string>>;
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
