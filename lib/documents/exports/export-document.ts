import { ApiError } from "../../errors.ts";
import type { Conversion, Converter } from "../../platform/converter.ts";
import type { Ports } from "../../platform/ports.ts";
import type { Renderer } from "../../platform/renderer.ts";
import { authorize, type DocumentAccess, type Viewer } from "../authorization/document-access.ts";
import { type ContentDeps, readCurrentContent } from "../content/read.ts";
import { readComments } from "./comments-appendix.ts";
import { type ExportFormat, FILE_TYPES, isEditorFormat } from "./formats.ts";
import { readLinkedDocuments, UNTITLED } from "./linked-documents.ts";
import { findImages, readImages } from "./readable-images.ts";

export type ExportDeps = ContentDeps &
  Pick<Ports, "blobs" | "log"> & { readonly converter?: Converter; readonly renderer?: Renderer };

export interface ExportOptions {
  readonly format: ExportFormat;
  /** Adds the comments. Not for `json` and `yjs`. */
  readonly hasComments: boolean;
  /** Links to documents and attachments begin with it; without a slash at the end. */
  readonly baseUrl: string;
  /** Whether a large document is not exported: the result is undefined. */
  readonly skipsLarge?: boolean;
}

/** A document with more content is large: about 350 pages, which take some seconds. */
const CONTENT_LARGE_BYTES = 2 * 1024 * 1024;
/** A document with more bytes of images is large. */
const IMAGES_LARGE_BYTES = 16 * 1024 * 1024;

/** An exported document. */
export interface ExportedFile {
  readonly name: string;
  /** Content type. */
  readonly type: string;
  readonly bytes: Uint8Array;
  /** PDF only: why it does not conform to PDF/UA-1; empty if it does. */
  readonly issues: readonly string[];
}

/** The title of an imported file ends with it. */
const IMPORTED_EXTENSION = /(?<=.)\.(?:docx|odt|md|markdown|html?|txt)$/i;

/** A Yjs state without content. */
const EMPTY_STATE = Uint8Array.of(0, 0);

/**
 * Exports a document that the viewer may read; undefined if it is large and `skipsLarge` is set. Throws `bad_request` if the content cannot be converted, `unavailable`
 * if this installation cannot convert content or write this format, `not_found`, `unauthorized`, `forbidden`.
 */
export async function exportDocument(
  deps: ExportDeps,
  viewer: Viewer,
  id: string,
  options: ExportOptions,
): Promise<ExportedFile | undefined> {
  const access = await authorize(deps, viewer, id, "content_retrieve");
  const { format } = options;
  const isRendered = format !== "json" && format !== "yjs" && !isEditorFormat(format);
  const comments = isRendered && options.hasComments ? await readComments(deps, viewer, id) : [];
  return writeDocument(deps, access, options, comments);
}

async function writeDocument(
  deps: ExportDeps,
  { document, viewer }: DocumentAccess,
  { format, baseUrl, skipsLarge = false }: ExportOptions,
  comments: Awaited<ReturnType<typeof readComments>>,
): Promise<ExportedFile | undefined> {
  const title = document.title === null || document.title === "" ? UNTITLED : document.title;
  const { type, extension } = FILE_TYPES[format];
  const file = { name: `${title.replace(IMPORTED_EXTENSION, "")}${extension}`, type, issues: [] };
  const current = await readCurrentContent(deps, document);
  if (format === "yjs") {
    if (current === undefined) return { ...file, bytes: EMPTY_STATE };
    if (current.kind === "yjs") return { ...file, bytes: current.bytes };
    const state = await convertContent(deps, {
      from: "plain",
      bytes: current.bytes,
      to: "update",
      base: EMPTY_STATE,
    });
    return { ...file, bytes: Buffer.from(state) };
  }
  const isLarge = skipsLarge && (current?.bytes.length ?? 0) > CONTENT_LARGE_BYTES;
  if (isEditorFormat(format)) {
    if (deps.documents.publishAsMit)
      throw new ApiError(
        "bad_request",
        `export_format: ${format} needs the editor's writers, which are not installed`,
      );
    if (isLarge) return undefined;
    const { kind: from, bytes } = current ?? { kind: "yjs", bytes: EMPTY_STATE };
    return { ...file, bytes: Buffer.from(await convertContent(deps, { from, bytes, to: format })) };
  }
  if (isLarge && format !== "json") return undefined;
  const blocks =
    current === undefined
      ? "[]"
      : String(await convertContent(deps, { from: current.kind, bytes: current.bytes, to: "json" }));
  if (format === "json") return { ...file, bytes: Buffer.from(blocks) };
  const images = format === "markdown" ? [] : await findImages(deps, viewer, blocks);
  if (skipsLarge && images.reduce((sum, { bytes }) => sum + bytes, 0) > IMAGES_LARGE_BYTES) return undefined;
  const rendered = await renderWith(deps, {
    to: format,
    title,
    language: viewer?.language ?? "en",
    blocks,
    images: await readImages(deps, images),
    documents: await readLinkedDocuments(deps, viewer, blocks, baseUrl),
    baseUrl,
    comments,
  });
  return { ...file, ...rendered };
}

/** Throws `bad_request` for content that cannot be converted, `unavailable`. */
export async function convertContent(
  { converter }: Pick<ExportDeps, "converter">,
  conversion: Conversion,
): Promise<string | Uint8Array> {
  if (converter === undefined) throw cannot("convert content");
  const converted = await converter.convert(conversion, { isBackground: true });
  if (!converted.ok) throw refused(converted.reason);
  return converted.value;
}

/** Throws `bad_request` for a document that cannot be written, `unavailable`. */
export async function renderWith(
  { renderer }: Pick<ExportDeps, "renderer">,
  rendering: Parameters<Renderer["render"]>[0],
) {
  if (renderer === undefined) throw cannotExport();
  const rendered = await renderer.render(rendering);
  if (!rendered.ok) throw refused(rendered.reason);
  return rendered.value;
}

export const cannotExport = (): ApiError => cannot("export documents");
const cannot = (what: string): ApiError =>
  new ApiError("unavailable", `This installation cannot ${what}. Run the document service on a server`);

const REFUSED = {
  refused: "The document cannot be exported in this format.",
  timeout: "The document takes too long to export.",
  memory: "The document takes too much memory to export.",
} as const;

function refused(reason: keyof typeof REFUSED): ApiError {
  const error = REFUSED[reason];
  return new ApiError("bad_request", error, { body: { error } });
}
