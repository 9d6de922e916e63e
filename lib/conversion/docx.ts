import mammoth from "mammoth";
import { ZipFile } from "yazl";
import { ArchiveError, openZip, type ZipLimits } from "../archives/read-zip.ts";
import { collectImages, type ImageCollector } from "./embedded-images.ts";
import type { EmbeddedFile } from "./imported-page.ts";

/** HTML of an office document, with its images beside it. */
export interface OfficePage {
  readonly html: string;
  readonly files: readonly EmbeddedFile[];
  /** What was left out, as messages for users. */
  readonly skipped: readonly string[];
}

const MIB = 1024 * 1024;
/** Parsed XML takes a multiple of its size in memory. */
export const OFFICE_LIMITS: ZipLimits = {
  entriesMax: 5_000,
  entryMaxBytes: 48 * MIB,
  totalMaxBytes: 160 * MIB,
};
/** A document type may declare entities that refer to files or expand without end; no office program writes one. */
const DOCTYPE = /<!(?:DOCTYPE|ENTITY)/i;
const XML_MAX_BYTES = 24 * MIB;
const SKIPPED_MAX = 50;

/** Styles of Word and LibreOffice that mammoth does not map itself. */
const STYLES = [
  "p[style-name='Title'] => h1:fresh",
  "p[style-name='Subtitle'] => h2:fresh",
  ...["Quote", "Intense Quote", "Quotations", "Block Text"].map(
    (name) => `p[style-name='${name}'] => blockquote:fresh`,
  ),
  ...["HTML Preformatted", "Preformatted Text", "Source Code", "Code", "Plain Text", "macro"].map(
    (name) => `p[style-name='${name}'] => pre:separator('\n')`,
  ),
  ...["HTML Code", "Source Text", "Verbatim Char", "Code Char"].map(
    (name) => `r[style-name='${name}'] => code`,
  ),
  "u => u",
  "strike => s",
];

/** Reads the XML parts and the images of a zip. Throws ArchiveError if it exceeds a limit, or has a document type. */
export async function readOfficeParts(
  bytes: Uint8Array,
  isNeeded: (name: string) => boolean,
): Promise<Map<string, Buffer>> {
  const zip = await openZip(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), OFFICE_LIMITS);
  const parts = new Map<string, Buffer>();
  try {
    for (const member of zip.members) {
      const name = member.path.join("/");
      if (!isNeeded(name)) continue;
      const isXml = /\.(?:xml|rels)$/i.test(name);
      if (isXml && member.bytes > XML_MAX_BYTES)
        throw new ArchiveError("The document contains more text than can be imported.");
      const content = await member.read();
      if (isXml && DOCTYPE.test(content.toString("latin1")))
        throw new ArchiveError("The document declares a document type, which is not allowed.");
      parts.set(name, content);
    }
  } finally {
    zip.close();
  }
  return parts;
}

/** Reads a Word document. Fetches nothing: linked images and templates are left out. Throws ArchiveError. */
export async function readDocx(bytes: Uint8Array): Promise<OfficePage> {
  const parts = await readOfficeParts(bytes, (name) =>
    /^(?:\[Content_Types\]\.xml$|_rels\/|word\/)/.test(name),
  );
  if (!parts.has("[Content_Types].xml")) throw new ArchiveError("The file is not a Word document.");
  const images = collectImages();
  const { value, messages } = await mammoth.convertToHtml(
    { buffer: await packStored(parts) },
    {
      styleMap: STYLES,
      externalFileAccess: false,
      convertImage: mammoth.images.imgElement((image) => addImage(images, image)),
    },
  );
  const failures = messages.filter(({ type }) => type === "error").map(() => "A linked image");
  return {
    html: value,
    files: images.files,
    skipped: [...images.skipped, ...failures].slice(0, SKIPPED_MAX),
  };
}

async function addImage(
  images: ImageCollector,
  { readAsBuffer }: { readonly readAsBuffer: () => Promise<Buffer> },
): Promise<{ src: string }> {
  return { src: images.add(await readAsBuffer()) };
}

/** Packs the checked parts again, so that the reader cannot unpack anything else. */
async function packStored(parts: ReadonlyMap<string, Buffer>): Promise<Buffer> {
  const zip = new ZipFile();
  for (const [name, content] of parts) zip.addBuffer(content, name, { compress: false });
  zip.end();
  const chunks: Buffer[] = [];
  for await (const chunk of zip.outputStream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
