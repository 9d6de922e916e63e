/** The layout of a zip of a document tree, which export writes and import reads. Decision: infra/decisions/0122. */

/** The folder of all files that documents contain, at the root of the archive. */
export const ATTACHMENTS_FOLDER = "attachments";
/** A document is the file `<Title>.md`; its children are in the folder `<Title>` beside it. */
export const PAGE_EXTENSION = ".md";

const NAME_MAX_LENGTH = 100;
// biome-ignore lint/suspicious/noControlCharactersInRegex: no file system accepts them
const INVALID = /[\u0000-\u001f\u007f<>:"/\\|?*]/g;
const RESERVED = /^(?:con|prn|aux|nul|com\d|lpt\d)$/i;

/**
 * A name for a file or folder that every operating system accepts, and that no name in `taken` is equal to without regard
 * to case. It is added there.
 */
export function fileNameOf(title: string, extension: string, taken: Set<string>): string {
  const plain = [...title.normalize("NFC").toWellFormed().replace(INVALID, "_")]
    .slice(0, NAME_MAX_LENGTH)
    .join("");
  const trimmed = plain
    .trim()
    .replace(/[. ]+$/, "")
    .replace(/^\.+/, "_");
  const base = trimmed === "" ? "Untitled" : RESERVED.test(trimmed) ? `${trimmed}_` : trimmed;
  for (let number = 1; ; number += 1) {
    const name = `${base}${number === 1 ? "" : ` (${number})`}`;
    const key = `${name}${extension}`.toLowerCase();
    if (taken.has(key)) continue;
    taken.add(key);
    return name;
  }
}

/** A relative link from a page in `from` to `to`, percent-encoded. Both are lists of path segments. */
export function relativeLink(from: readonly string[], to: readonly string[]): string {
  const folder = from.slice(0, -1);
  let same = 0;
  while (same < folder.length && same < to.length - 1 && folder[same] === to[same]) same += 1;
  const up = folder.slice(same).map(() => "..");
  return [...up, ...to.slice(same).map(encodeSegment)].join("/");
}

const encodeSegment = (segment: string): string =>
  encodeURIComponent(segment).replace(
    /[()'*!]/g,
    (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`,
  );
