import { OFFICE_LIMITS } from "../archives/office-limits.ts";
import { ArchiveError, openZip } from "../archives/read-zip.ts";
import type { EmbeddedFile } from "./imported-page.ts";

/** HTML of an office document, with its images beside it. */
export interface OfficePage {
  readonly html: string;
  readonly files: readonly EmbeddedFile[];
  /** What was left out, as messages for users. */
  readonly skipped: readonly string[];
}

/** A document type may declare entities that refer to files or expand without end; no office program writes one. */
const DOCTYPE = /<!(?:DOCTYPE|ENTITY)/i;
const XML_MAX_BYTES = 24 * 1024 * 1024;
const SKIPPED_MAX = 50;

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

/** At most fifty of the messages: a document may repeat one for each of its images. */
export const toSkipped = (messages: readonly string[]): string[] => messages.slice(0, SKIPPED_MAX);
