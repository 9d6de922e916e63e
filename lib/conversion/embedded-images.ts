import type { EmbeddedFile } from "./imported-page.ts";

/** Images that every browser displays and that can contain no scripts, by their first bytes in hexadecimal. */
const SIGNATURES: readonly (readonly [extension: string, signature: RegExp])[] = [
  ["png", /^89504e470d0a1a0a/],
  ["jpg", /^ffd8ff/],
  ["gif", /^47494638(?:37|39)61/],
  ["webp", /^52494646.{8}57454250/],
];
const SIGNATURE_BYTES = 12;
const FILES_MAX = 1_000;
const DATA_URL = /^data:image\/[\w.+-]+;base64,/i;

/** Collects the images of a document, each content once. */
export interface ImageCollector {
  readonly files: readonly EmbeddedFile[];
  readonly skipped: readonly string[];
  /** Returns the URL of the image; empty if it is not one that can be imported. */
  add(bytes: Uint8Array): string;
  /** As `add`, from a `data:` URL. Returns other URLs unchanged. */
  addUrl(url: string): string;
}

/** Begins the URLs of embedded files. No file of an archive has such a path: it contains an invalid character. */
export const EMBEDDED_PREFIX = "%00embedded/";
const urlOf = (name: string): string => `${EMBEDDED_PREFIX}${name}`;

export function collectImages(): ImageCollector {
  const files: EmbeddedFile[] = [];
  const skipped: string[] = [];
  const add = (bytes: Uint8Array): string => {
    const head = Buffer.from(bytes.subarray(0, SIGNATURE_BYTES)).toString("hex");
    const extension = SIGNATURES.find(([, signature]) => signature.test(head))?.[0];
    const known = files.find((file) => Buffer.compare(file.bytes, bytes) === 0);
    if (known !== undefined) return known.url;
    if (extension === undefined || files.length >= FILES_MAX) {
      skipped.push("An image whose format browsers do not display");
      return "";
    }
    const name = `image-${files.length + 1}.${extension}`;
    files.push({ url: urlOf(name), name, bytes });
    return urlOf(name);
  };
  return {
    files,
    skipped,
    add,
    addUrl: (url) => (DATA_URL.test(url) ? add(Buffer.from(url.slice(url.indexOf(",") + 1), "base64")) : url),
  };
}
