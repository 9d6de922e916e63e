/** The formats that are written from blocks. `portable` is the Markdown of an archive, which can be read back. */
export type RenderedFormat = "html" | "markdown" | "portable" | "docx" | "odt" | "pdf";

/** The bytes of an image or file that a document shows. */
export interface RenderedImage {
  /** Content type. */
  readonly type: string;
  readonly bytes: Uint8Array;
}

/** A comment for the appendix. */
export interface RenderedComment {
  readonly author: string;
  /** ISO 8601. */
  readonly at: string;
  readonly text: string;
  /** The first comment of its thread. */
  readonly isFirst: boolean;
  readonly isResolved: boolean;
}

/** Another document that the text names. */
export interface LinkedDocument {
  readonly title: string;
  /** Absolute, or relative to the exported file. */
  readonly url: string;
}

/** A document to write as a file. */
export interface Rendering {
  readonly to: RenderedFormat;
  readonly title: string;
  /** BCP 47, such as `en` or `fr-FR`. */
  readonly language: string;
  /** The blocks of the document, as JSON. */
  readonly blocks: string;
  /** By the key of the attachment, which is the end of its URL. Images that are missing here become links. */
  readonly images: ReadonlyMap<string, RenderedImage>;
  /** Of `portable`: paths of attachments in the archive, relative to this document, by key. */
  readonly files?: ReadonlyMap<string, string>;
  /** By id: documents that the text may link to. */
  readonly documents: ReadonlyMap<string, LinkedDocument>;
  /** Relative URLs of other attachments are completed with it; without a slash at the end. */
  readonly baseUrl: string;
  readonly comments: readonly RenderedComment[];
}

/** PDF only: why the file does not conform to PDF/UA-1; empty if it does. */
export interface Rendered {
  readonly bytes: Uint8Array;
  readonly issues: readonly string[];
}
