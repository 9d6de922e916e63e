import { fromBufferPromise } from "yauzl";
import { ZipFile } from "yazl";

/** What odf-kit cannot be told. */
export interface OdtFacts {
  /** BCP 47, such as `fr-FR`. */
  readonly language: string;
  /** Of each table, in order. */
  readonly headerRows: readonly number[];
}

/**
 * Corrects a document of odf-kit: removes the line breaks that it writes between runs of a text, which are spaces, writes
 * spaces that would collapse, and adds the language and the header rows of tables.
 */
export async function correctOdt(bytes: Uint8Array, facts: OdtFacts): Promise<Uint8Array> {
  const corrected = new ZipFile();
  const zip = await fromBufferPromise(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), {
    lazyEntries: true,
  });
  for await (const entry of zip.eachEntry()) {
    const chunks: Buffer[] = [];
    for await (const chunk of await zip.openReadStreamPromise(entry)) chunks.push(chunk as Buffer);
    const name = entry.fileName;
    const correct = CORRECTIONS[name];
    const content = Buffer.concat(chunks);
    corrected.addBuffer(
      correct === undefined ? content : Buffer.from(correct(content.toString(), facts)),
      name,
      // The type is the first file, and can be read without unpacking.
      { compress: name.endsWith(".xml") },
    );
  }
  corrected.end();
  const chunks: Buffer[] = [];
  for await (const chunk of corrected.outputStream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

const CORRECTIONS: Readonly<Record<string, (xml: string, facts: OdtFacts) => string>> = {
  "content.xml": (xml, { headerRows }) => withHeaderRows(withSpaces(xml.replaceAll("\n", "")), headerRows),
  "styles.xml": (xml, { language }) => {
    const [name = "en", region] = language.split("-");
    const attributes = `fo:language="${name}"${region === undefined ? "" : ` fo:country="${region}"`}`;
    return xml.replace(/(<style:style style:name="Standard".*?<style:text-properties )/s, `$1${attributes} `);
  },
  "meta.xml": (xml, { language }) =>
    xml.replace("</office:meta>", `<dc:language>${language}</dc:language></office:meta>`),
};

/** After these a space is not part of the text. ODF 1.3, part 3, 6.1.2. */
const STARTS = /^<(?:text:(?:p|h|line-break|tab)[\s/>])/;

/** Writes spaces that would collapse, and tabs, as elements. */
function withSpaces(xml: string): string {
  let isAfterSpace = true;
  return xml.replace(/<[^>]*>|[^<]+/g, (part) => {
    if (part.startsWith("<")) {
      if (STARTS.test(part)) isAfterSpace = true;
      return part;
    }
    return part.replace(/ +|\t|[^ \t]+/g, (text) => {
      const wasAfterSpace = isAfterSpace;
      isAfterSpace = text.startsWith(" ") || text === "\t";
      if (text === "\t") return "<text:tab/>";
      if (!text.startsWith(" ")) return text;
      const kept = wasAfterSpace ? 0 : 1;
      const count = text.length - kept;
      return " ".repeat(kept) + (count === 0 ? "" : `<text:s text:c="${count}"/>`);
    });
  });
}

/** Puts the first rows of each table into its header. */
function withHeaderRows(xml: string, headerRows: readonly number[]): string {
  let table = -1;
  let row = 0;
  return xml.replace(/<table:table |<table:table-row>|<\/table:table-row>/g, (tag) => {
    const header = headerRows[table] ?? 0;
    if (tag === "<table:table ") {
      table += 1;
      row = 0;
      return tag;
    }
    if (tag === "<table:table-row>") {
      row += 1;
      return row === 1 && header > 0 ? `<table:table-header-rows>${tag}` : tag;
    }
    return row === header ? `${tag}</table:table-header-rows>` : tag;
  });
}
