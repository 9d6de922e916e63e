/** A file that is embedded in imported content, such as an image. */
export interface EmbeddedFile {
  /** The URL by which the content refers to it. */
  readonly url: string;
  /** A file name; its extension fits the content. */
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** Imported content as the converter returns it. */
export interface ImportedPage {
  /** A Yjs state of a new document. */
  readonly state: Uint8Array;
  readonly files: readonly EmbeddedFile[];
  /** Relative URLs of links and media in the content, without duplicates. */
  readonly urls: readonly string[];
  /** From the front matter of Markdown. */
  readonly title?: string;
  readonly position?: number;
  /** What the content contains that was not imported, as messages for users. */
  readonly skipped: readonly string[];
}

interface Header extends Omit<ImportedPage, "state" | "files"> {
  readonly stateBytes: number;
  readonly files: readonly (Omit<EmbeddedFile, "bytes"> & { readonly length: number })[];
}

const LENGTH_BYTES = 4;

/** The page as bytes: the length of a JSON header, the header, the state and the files. */
export function encodePage({ state, files, ...rest }: ImportedPage): Uint8Array {
  const header: Header = {
    ...rest,
    stateBytes: state.length,
    files: files.map(({ url, name, bytes }) => ({ url, name, length: bytes.length })),
  };
  const json = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32BE(json.length);
  return Buffer.concat([length, json, state, ...files.map(({ bytes }) => bytes)]);
}

/** Reads what `encodePage` wrote. Throws for anything else. */
export function decodePage(encoded: Uint8Array): ImportedPage {
  const bytes = Buffer.from(encoded.buffer, encoded.byteOffset, encoded.byteLength);
  const headerEnd = LENGTH_BYTES + bytes.readUInt32BE(0);
  const { stateBytes, files, ...rest } = JSON.parse(
    bytes.toString("utf8", LENGTH_BYTES, headerEnd),
  ) as Header;
  let at = headerEnd;
  const take = (length: number): Uint8Array => {
    at += length;
    if (!(length >= 0 && at <= bytes.length)) throw new RangeError("the page is incomplete");
    return bytes.subarray(at - length, at);
  };
  const state = take(stateBytes);
  return { ...rest, state, files: files.map(({ length, ...file }) => ({ ...file, bytes: take(length) })) };
}
