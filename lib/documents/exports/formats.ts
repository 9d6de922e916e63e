import type { StoredExport } from "../tables/exports.ts";

/** What the editor's own writers produce, in installations that have them: PUBLISH_AS_MIT=false. */
const EDITOR_FORMATS = ["docx-editor", "odt-editor", "pdf-editor"] as const;
type EditorFormat = (typeof EDITOR_FORMATS)[number];

/** The formats of an export: what the renderer and the editor write, the editor's blocks, and the Yjs state. */
export const EXPORT_FORMATS = [
  "html",
  "markdown",
  "docx",
  "odt",
  "pdf",
  ...EDITOR_FORMATS,
  "json",
  "yjs",
] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

export const isEditorFormat = (format: ExportFormat): format is EditorFormat =>
  EDITOR_FORMATS.some((one) => one === format);

/** Content type of archives. */
export const ZIP_TYPE = "application/zip";
const DOCX = {
  type: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
  extension: ".docx",
};
const ODT = { type: "application/vnd.oasis.opendocument.text", extension: ".odt" };
const PDF = { type: "application/pdf", extension: ".pdf" };

/** Content type and extension of an exported file. */
export const FILE_TYPES: Readonly<
  Record<ExportFormat, { readonly type: string; readonly extension: string }>
> = {
  html: { type: "text/html; charset=utf-8", extension: ".html" },
  markdown: { type: "text/markdown; charset=utf-8", extension: ".md" },
  docx: DOCX,
  odt: ODT,
  pdf: PDF,
  "docx-editor": DOCX,
  "odt-editor": ODT,
  "pdf-editor": PDF,
  json: { type: "application/json", extension: ".json" },
  yjs: { type: "application/octet-stream", extension: ".yjs" },
};

/** The content types, without parameters. */
export const EXPORT_FILE_TYPES: readonly string[] = Object.values(FILE_TYPES).map(
  ({ type }) => type.split(";", 1)[0] ?? type,
);

/** The format of a stored export; undefined for an archive. */
export const storedFormat = ({ format }: StoredExport): ExportFormat | undefined =>
  EXPORT_FORMATS.find((one) => one === format);
