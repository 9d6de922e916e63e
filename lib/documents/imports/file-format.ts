import { isUtf8 } from "node:buffer";
import { ApiError } from "../../errors.ts";
import type { DocumentSettings } from "../../settings/document-config.ts";

/** The format of an imported file; `zip` is a tree of documents. */
export type FileFormat = "markdown" | "plain" | "html" | "docx" | "odt" | "zip";

const FORMATS: Readonly<Record<string, FileFormat>> = {
  ".md": "markdown",
  ".markdown": "markdown",
  ".txt": "plain",
  ".html": "html",
  ".htm": "html",
  ".docx": "docx",
  ".odt": "odt",
  ".zip": "zip",
};
const IN_ZIP: ReadonlySet<FileFormat> = new Set(["docx", "odt", "zip"]);
const ZIP_SIGNATURE = Buffer.from("PK\x03\x04", "latin1");

/** An error of the field with the file. */
export const fileError = (message: string): ApiError =>
  new ApiError("bad_request", message, { body: { file: [message] } });

/** The extension of a name in lower case, with its dot; empty without one. */
export const extensionOf = (name: string): string => /\.[^./\\]{1,20}$/.exec(name)?.[0].toLowerCase() ?? "";

/** The format of a file by its extension; undefined if there is none. */
export function formatByExtension(name: string): FileFormat | undefined {
  const extension = extensionOf(name);
  return Object.hasOwn(FORMATS, extension) ? FORMATS[extension] : undefined;
}

/**
 * The format of a file by its extension: the content type that a client sends is ignored. Throws `bad_request` for an
 * extension that is not allowed. Reference 5.3.
 */
export function formatOf(
  name: string,
  { CONVERSION_FILE_EXTENSIONS_ALLOWED: allowed }: DocumentSettings["clientSettings"],
): FileFormat {
  const extension = extensionOf(name);
  const format = formatByExtension(name);
  if (format !== undefined && allowed.includes(extension)) return format;
  const listed = allowed.map((each) => `'${each}'`).join(", ");
  throw fileError(`File extension ${extension} is not allowed. Allowed extensions are: [${listed}].`);
}

/** The error for a file whose content is not of its format. */
export const wrongContent = (format: FileFormat): ApiError =>
  fileError(
    IN_ZIP.has(format)
      ? "The content of the file is not of the type of its extension."
      : "The content of the file is not text in UTF-8 or UTF-16.",
  );

/** Whether the first bytes of a file are of its format. Text may end within a character. */
export function isOfFormat(head: Uint8Array, format: FileFormat): boolean {
  const bytes = Buffer.from(head.buffer, head.byteOffset, head.byteLength);
  if (IN_ZIP.has(format)) return bytes.subarray(0, ZIP_SIGNATURE.length).equals(ZIP_SIGNATURE);
  const isUtf16 = (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff);
  if (isUtf16) return true;
  const isText = [0, 1, 2, 3].some((cut) => isUtf8(bytes.subarray(0, bytes.length - cut)));
  return isText && !bytes.includes(0);
}
