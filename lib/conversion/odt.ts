import { Parser } from "htmlparser2";
import { ArchiveError } from "../archives/read-zip.ts";
import { type Elements, OdtReader } from "./odt-reader.ts";
import { OdtStyles } from "./odt-styles.ts";
import { type OfficePage, readOfficeParts } from "./office-parts.ts";

const ODT = "application/vnd.oasis.opendocument.text";
const IMAGE = /^(?!Thumbnails\/).+\.(?:png|jpe?g|gif|webp|svg|emf|wmf|tiff?|bmp)$/i;

/** Reads an OpenDocument text. Fetches nothing: linked images are left out. Throws ArchiveError. */
export async function readOdt(bytes: Uint8Array): Promise<OfficePage> {
  const parts = await readOfficeParts(
    bytes,
    (name) =>
      ["mimetype", "content.xml", "styles.xml", "META-INF/manifest.xml"].includes(name) || IMAGE.test(name),
  );
  const content = parts.get("content.xml");
  if (parts.get("mimetype")?.toString("latin1").trim() !== ODT || content === undefined)
    throw new ArchiveError("The file is not an OpenDocument text.");
  if (parts.get("META-INF/manifest.xml")?.includes("manifest:encryption-data") === true)
    throw new ArchiveError("The document is encrypted.");
  const styles = new OdtStyles();
  const declared = parts.get("styles.xml");
  if (declared !== undefined)
    parse(declared, {
      open: (name, attributes) => styles.open(name, attributes),
      close: (name) => styles.close(name),
      text: () => {},
    });
  const reader = new OdtReader(styles, parts);
  parse(content, reader);
  return reader.page();
}

/** Passes the elements of a part on. Entities other than those of every XML are not expanded. */
function parse(part: Buffer, elements: Elements): void {
  const parser = new Parser(
    {
      onopentag: (name, attributes) => elements.open(name, attributes),
      onclosetag: (name) => elements.close(name),
      ontext: (text) => elements.text(text),
    },
    { xmlMode: true, decodeEntities: true },
  );
  parser.end(new TextDecoder("utf-8", { fatal: true }).decode(part));
}
