import type { RenderedFormat } from "../../platform/renderer.ts";

/** The formats of an export: what the renderer writes, the editor's blocks, and the Yjs state. */
export const EXPORT_FORMATS = ["html", "markdown", "docx", "odt", "pdf", "json", "yjs"] as const;
export type ExportFormat = RenderedFormat | "json" | "yjs";

/** Content type and extension of an exported file. */
export const FILE_TYPES: Readonly<
  Record<ExportFormat, { readonly type: string; readonly extension: string }>
> = {
  html: { type: "text/html; charset=utf-8", extension: ".html" },
  markdown: { type: "text/markdown; charset=utf-8", extension: ".md" },
  docx: {
    type: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    extension: ".docx",
  },
  odt: { type: "application/vnd.oasis.opendocument.text", extension: ".odt" },
  pdf: { type: "application/pdf", extension: ".pdf" },
  json: { type: "application/json", extension: ".json" },
  yjs: { type: "application/octet-stream", extension: ".yjs" },
};
