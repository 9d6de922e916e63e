import { registerHooks } from "node:module";
import type { EditorFormat } from "./conversion.ts";
import type { Block } from "./read-blocks.ts";

/** Images in the content itself. Other images become links: a writer must not request what a document names. */
const EMBEDDED_IMAGE = /^data:image\/(?:png|jpeg|gif);base64,/;

/** The editor's own writers, which PUBLISH_AS_MIT=false adds. */
export interface LoadedEditorWriters {
  /** The editor's schema with columns. */
  withColumns<Schema>(schema: Schema): Schema;
  /** Writes blocks of this schema as a file. */
  write(format: EditorFormat, blocks: readonly Block[], schema: unknown): Promise<Uint8Array>;
}

/** Loads the packages that `findEditorWriters` finds. Rejects if one cannot be loaded. */
export async function loadEditorWriters(): Promise<LoadedEditorWriters> {
  // The writer of DOCX imports a folder, which bundlers resolve and Node does not.
  registerHooks({
    resolve: (specifier, context, next) => next(specifier === "buffer/" ? "node:buffer" : specifier, context),
  });
  allowOnlyEmbeddedFiles();
  const { withMultiColumn } = await import("@blocknote/xl-multi-column");
  return {
    withColumns: withMultiColumn,
    write: async (format, blocks, schema) =>
      new Uint8Array(await (await WRITERS[format](linkImages(blocks), schema)).arrayBuffer()),
  };
}

const OPTIONS = {
  resolveFileUrl: async (url: string) => (await fetch(url)).blob(),
  emojiSource: false,
};

const WRITERS: Readonly<Record<EditorFormat, (blocks: readonly Block[], schema: unknown) => Promise<Blob>>> =
  {
    "docx-editor": async (blocks, schema) => {
      const { DOCXExporter, docxDefaultSchemaMappings } = await import("@blocknote/xl-docx-exporter");
      return new DOCXExporter(schema, docxDefaultSchemaMappings, OPTIONS).toBlob(blocks);
    },
    "odt-editor": async (blocks, schema) => {
      const { ODTExporter, odtDefaultSchemaMappings } = await import("@blocknote/xl-odt-exporter");
      return new ODTExporter(schema, odtDefaultSchemaMappings, OPTIONS).toODTDocument(blocks);
    },
    "pdf-editor": async (blocks, schema) => {
      const [{ PDFExporter, pdfDefaultSchemaMappings }, { renderToBuffer }] = await Promise.all([
        import("@blocknote/xl-pdf-exporter"),
        import("@react-pdf/renderer"),
      ]);
      const exporter = new PDFExporter(schema, pdfDefaultSchemaMappings, OPTIONS);
      return new Blob([new Uint8Array(await renderToBuffer(await exporter.toReactPDFDocument(blocks)))]);
    },
  };

/** The writers fetch their fonts, which are in their code, and would fetch any other address. */
function allowOnlyEmbeddedFiles(): void {
  const fetchAnything = globalThis.fetch;
  globalThis.fetch = async (address, options) => {
    if (!String(address).startsWith("data:")) throw new TypeError("files of other sites are not loaded");
    return fetchAnything(address, options);
  };
}

function linkImages(blocks: readonly Block[]): Block[] {
  return blocks.map((block) => {
    const children = linkImages(block.children);
    if (block.type !== "image" || EMBEDDED_IMAGE.test(String(block.props["url"])))
      return { ...block, children };
    const { url, name, caption } = block.props;
    return { ...block, type: "file", props: { url, name: name || url, caption }, children };
  });
}
