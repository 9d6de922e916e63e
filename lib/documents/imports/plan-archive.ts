import { TITLE_MAX_LENGTH } from "../records/body.ts";
import { DEPTH_MAX } from "../tables/documents.ts";
import { extensionOf, fileError } from "./file-format.ts";

/** A file of an archive, with the segments of its path. */
export interface ArchiveFile {
  readonly path: readonly string[];
}

/** A document that an archive contains; parents are before their children. */
export interface PlannedPage<File> {
  readonly parent: number | null;
  readonly title: string;
  /** The folder that its relative links begin in. */
  readonly folder: readonly string[];
  /** Undefined for a folder without a page. */
  readonly file?: File;
}

export interface ArchivePlan<File> {
  readonly pages: readonly PlannedPage<File>[];
  /** Positions of pages by path. */
  readonly byPath: ReadonlyMap<string, number>;
  /** All other files by path. */
  readonly files: ReadonlyMap<string, File>;
  readonly skipped: readonly string[];
}

const PAGES_MAX = 5_000;
const PAGE_EXTENSIONS: ReadonlySet<string> = new Set([".md", ".markdown", ".html", ".htm"]);
/** Folders of files that pages refer to, as Outline and our own export name them. */
const FILE_FOLDERS: ReadonlySet<string> = new Set(["attachments", "uploads"]);
/** What systems add to archives. */
const HIDDEN = /^(?:\.|__MACOSX$|Thumbs\.db$|desktop\.ini$)/i;
/** Notion adds an id to the names of pages and their folders. */
const NOTION_ID = / [0-9a-f]{32}$/;

interface Node<File> {
  readonly name: string;
  readonly path: readonly string[];
  file?: File;
  readonly children: Map<string, Node<File>>;
}

const keyOf = (path: readonly string[]): string => path.join("/").normalize("NFC");

/**
 * Finds the documents of an archive: each page file is one, and the files in the folder of the same name beside it are
 * its children. Databases of Notion are left out; a folder without a page becomes an empty document. Several documents
 * at the top get a common parent with the name of the archive. Throws `bad_request` without documents, or with too many.
 */
export function planArchive<File extends ArchiveFile>(
  members: readonly File[],
  archiveName: string,
): ArchivePlan<File> {
  const top: Node<File> = { name: "", path: [], children: new Map() };
  const files = new Map<string, File>();
  const skipped: string[] = [];
  let count = 0;
  for (const file of members) {
    const { path } = file;
    if (path.some((segment) => HIDDEN.test(segment))) continue;
    const name = path.at(-1) ?? "";
    const extension = extensionOf(name);
    const isFile = path.slice(0, -1).some((segment) => FILE_FOLDERS.has(segment));
    if (isFile || !PAGE_EXTENSIONS.has(extension)) {
      if (extension === ".csv" && !isFile) skipped.push(`${keyOf(path)}: databases are not imported`);
      else files.set(keyOf(path), file);
      continue;
    }
    const node = nodeAt(top, [...path.slice(0, -1), name.slice(0, -extension.length)]);
    if (node.file !== undefined) skipped.push(`${keyOf(path)}: another page has the same name`);
    else {
      node.file = file;
      count += 1;
    }
    if (count > PAGES_MAX) throw fileError(`The archive contains more than ${PAGES_MAX} documents.`);
  }
  if (count === 0) throw fileError("The archive contains no documents.");
  joinNotionFolders(top);
  return { ...toPages(rootOf(top, archiveName)), files, skipped };
}

/** The node at a path, which is created with its parents. */
function nodeAt<File>(top: Node<File>, path: readonly string[]): Node<File> {
  if (path.length > DEPTH_MAX) throw fileError("The tree has reached its maximum depth.");
  let node = top;
  for (const [at, segment] of path.entries()) {
    const name = segment.normalize("NFC");
    const found: Node<File> = node.children.get(name) ?? {
      name,
      path: path.slice(0, at + 1),
      children: new Map(),
    };
    node.children.set(name, found);
    node = found;
  }
  return node;
}

/** Newer exports of Notion add ids to the names of pages, and not to those of their folders. */
function joinNotionFolders<File>(parent: Node<File>): void {
  for (const [name, node] of parent.children) {
    const bare = name.replace(NOTION_ID, "");
    const folder = bare === name ? undefined : parent.children.get(bare);
    if (folder === undefined || folder.file !== undefined || node.children.size > 0) continue;
    for (const [inner, child] of folder.children) node.children.set(inner, child);
    parent.children.delete(bare);
  }
  for (const node of parent.children.values()) joinNotionFolders(node);
}

/** The only document at the top, or a new one above them. */
function rootOf<File>(top: Node<File>, archiveName: string): Node<File> {
  const [only, ...others] = top.children.values();
  if (only !== undefined && others.length === 0) return only;
  const name = archiveName.slice(0, archiveName.length - extensionOf(archiveName).length);
  return { ...top, name };
}

function toPages<File extends ArchiveFile>(root: Node<File>): Pick<ArchivePlan<File>, "pages" | "byPath"> {
  const pages: PlannedPage<File>[] = [];
  const byPath = new Map<string, number>();
  const collator = new Intl.Collator("en", { numeric: true });
  const left: { readonly node: Node<File>; readonly parent: number | null }[] = [
    { node: root, parent: null },
  ];
  for (let next = left.shift(); next !== undefined; next = left.shift()) {
    const { node, parent } = next;
    const at = pages.length;
    const { file } = node;
    const title = node.name.replace(NOTION_ID, "").trim().slice(0, TITLE_MAX_LENGTH).toWellFormed();
    pages.push({
      parent,
      title,
      folder: file?.path.slice(0, -1) ?? node.path,
      ...(file === undefined ? {} : { file }),
    });
    if (file !== undefined) byPath.set(keyOf(file.path), at);
    const children = [...node.children.values()].toSorted((one, other) =>
      collator.compare(one.name, other.name),
    );
    left.push(...children.map((child) => ({ node: child, parent: at })));
  }
  return { pages, byPath };
}

/**
 * The path in the archive that a relative URL refers to, as it is or from a folder further up, as Outline writes them;
 * undefined if nothing is there.
 */
export function findReferenced(
  folder: readonly string[],
  url: string,
  exists: (path: string) => boolean,
): string | undefined {
  let text: string;
  try {
    text = decodeURIComponent(url.replace(/[?#].*$/s, ""));
  } catch {
    return undefined;
  }
  if (text === "") return undefined;
  for (let end = folder.length; end >= 0; end -= 1) {
    const path = [...folder.slice(0, end)];
    let isInside = true;
    for (const segment of text.split("/")) {
      if (segment === "..") isInside &&= path.pop() !== undefined;
      else if (segment !== "" && segment !== ".") path.push(segment);
    }
    const found = keyOf(path);
    if (isInside && exists(found)) return found;
  }
  return undefined;
}
