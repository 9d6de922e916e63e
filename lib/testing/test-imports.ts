import {
  Document,
  ExternalHyperlink,
  HeadingLevel,
  ImageRun,
  Packer,
  Paragraph,
  Table,
  TableCell,
  TableRow,
  TextRun,
} from "docx";
import { ZipFile } from "yazl";
import { PNG } from "./test-attachments.ts";
import { TEST_TOKEN } from "./test-deps.ts";
import type { TestGateway } from "./test-gateway.ts";

/** Settings with which every format is imported. */
export const IMPORT_SETTINGS = {
  CONVERSION_UPLOAD_ENABLED: "true",
  CONVERSION_FILE_EXTENSIONS_ALLOWED: ".docx,.odt,.md,.html,.txt,.zip",
  API_DOCUMENT_THROTTLE_RATE: "off",
} as const;

export interface ImportOptions {
  readonly token?: string | null;
  /** Imported below this document. */
  readonly parent?: string;
  /** Fields of the form besides the file; those of `after` follow it. */
  readonly fields?: Readonly<Record<string, string>>;
  readonly after?: Readonly<Record<string, string>>;
  readonly contentType?: string;
}

/** Sends a file as a browser's form does. */
export async function sendFile(
  { url }: Pick<TestGateway, "url">,
  name: string,
  content: Uint8Array | string,
  { token = TEST_TOKEN, parent, fields = {}, after = {}, contentType = "" }: ImportOptions = {},
  // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects
): Promise<{ readonly status: number; readonly body: any }> {
  const form = new FormData();
  for (const [field, value] of Object.entries(fields)) form.append(field, value);
  const bytes = typeof content === "string" ? content : Buffer.from(content);
  form.append("file", new File([bytes], name, { type: contentType }));
  for (const [field, value] of Object.entries(after)) form.append(field, value);
  const path = parent === undefined ? "/documents/" : `/documents/${parent}/children/`;
  const response = await fetch(`${url}/api/v1.0${path}`, {
    method: "POST",
    headers: token === null ? {} : { authorization: `Bearer ${token}` },
    body: form,
  });
  return { status: response.status, body: await response.json() };
}

/** A zip archive of these entries. */
export async function zipOf(
  entries: Readonly<Record<string, string | Uint8Array>>,
  { compress = true }: { readonly compress?: boolean } = {},
): Promise<Buffer> {
  const zip = new ZipFile();
  for (const [name, content] of Object.entries(entries))
    zip.addBuffer(Buffer.from(content as string), name, { compress });
  zip.end();
  const chunks: Buffer[] = [];
  for await (const chunk of zip.outputStream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** A Word document with a heading, formatted text, links, nested lists, checklists, an image and a table. */
export function wordDocument(sections = 1, image: Buffer = PNG): Promise<Buffer> {
  const numbering = {
    config: [
      {
        reference: "numbers",
        levels: [0, 1].map((level) => ({ level, format: "decimal" as const, text: `%${level + 1}.` })),
      },
    ],
  };
  const section = (at: number): (Paragraph | Table)[] => [
    new Paragraph({ text: `Chapter ${at}`, heading: HeadingLevel.HEADING_1 }),
    new Paragraph({
      children: [
        new TextRun({ text: "bold", bold: true }),
        new TextRun(" and "),
        new ExternalHyperlink({ link: "https://e.example/", children: [new TextRun("a link")] }),
        new ExternalHyperlink({ link: "javascript:alert(1)", children: [new TextRun(" not this")] }),
      ],
    }),
    new Paragraph({ text: "outer", bullet: { level: 0 } }),
    new Paragraph({ text: "inner", bullet: { level: 1 } }),
    new Paragraph({ text: "first", numbering: { reference: "numbers", level: 0 } }),
    new Paragraph({ text: "within", numbering: { reference: "numbers", level: 1 } }),
    new Paragraph("☑ done"),
    new Paragraph("☐ to do"),
    new Paragraph({
      children: [new ImageRun({ type: "png", data: image, transformation: { width: 1, height: 1 } })],
    }),
    new Table({
      rows: [
        new TableRow({ tableHeader: true, children: [new TableCell({ children: [new Paragraph("Name")] })] }),
        new TableRow({ children: [new TableCell({ children: [new Paragraph("Ada")] })] }),
      ],
    }),
  ];
  const children = Array.from({ length: sections }, (_, at) => section(at + 1)).flat();
  return Packer.toBuffer(new Document({ numbering, sections: [{ children }] }));
}
