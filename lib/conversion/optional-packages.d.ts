/** The optional packages of the editor, as far as Weft uses them: they are not among its dependencies. */
declare module "@blocknote/xl-multi-column" {
  export function withMultiColumn<Schema>(schema: Schema): Schema;
}

declare module "@blocknote/xl-docx-exporter" {
  export const docxDefaultSchemaMappings: unknown;
  export class DOCXExporter {
    constructor(schema: unknown, mappings: unknown, options: object);
    toBlob(blocks: unknown): Promise<Blob>;
  }
}

declare module "@blocknote/xl-odt-exporter" {
  export const odtDefaultSchemaMappings: unknown;
  export class ODTExporter {
    constructor(schema: unknown, mappings: unknown, options: object);
    toODTDocument(blocks: unknown): Promise<Blob>;
  }
}

declare module "@blocknote/xl-pdf-exporter" {
  export const pdfDefaultSchemaMappings: unknown;
  export class PDFExporter {
    constructor(schema: unknown, mappings: unknown, options: object);
    toReactPDFDocument(blocks: unknown): Promise<unknown>;
  }
}

declare module "@react-pdf/renderer" {
  export function renderToBuffer(document: unknown): Promise<Buffer>;
}
