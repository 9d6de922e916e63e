import mammoth from "mammoth";
import { ZipFile } from "yazl";
import { ArchiveError } from "../archives/read-zip.ts";
import { collectImages, type ImageCollector } from "./embedded-images.ts";
import { type OfficePage, readOfficeParts, toSkipped } from "./office-parts.ts";

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
    skipped: toSkipped([...images.skipped, ...failures]),
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
