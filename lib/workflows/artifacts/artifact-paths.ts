/** Longest path of a file in a workspace, characters, and its longest name, bytes. */
const PATH_MAX_LENGTH = 1_000;
const NAME_MAX_BYTES = 255;

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  json: "json",
  jsonl: "jsonl",
  yaml: "yaml",
  yml: "yaml",
  html: "html",
  htm: "html",
  md: "md",
  markdown: "md",
  log: "log",
  pdf: "pdf",
  png: "png",
  txt: "txt",
  text: "txt",
  zip: "zip",
};

/**
 * Whether a path is a valid path below a workspace's folder: relative, with `/` between its names, none of them empty,
 * `.` or `..`, and without characters that some system treats specially.
 */
export function isInsidePath(path: string): boolean {
  if (path === "" || path.length > PATH_MAX_LENGTH || !path.isWellFormed()) return false;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
  if (/[\u0000-\u001f\u007f\\]/.test(path) || /^[A-Za-z]:/.test(path)) return false;
  return path
    .split("/")
    .every(
      (name) => name !== "" && name !== "." && name !== ".." && Buffer.byteLength(name) <= NAME_MAX_BYTES,
    );
}

/** The content type by file extension, otherwise as given by the producer: `md` or `markdown`. Reference 6. */
export function contentTypeOf(path: string, isFolder: boolean, said = ""): string {
  if (isFolder) return "folder";
  const ending = /\.([A-Za-z0-9]+)$/.exec(path)?.[1] ?? "";
  return knownType(ending) ?? knownType(said) ?? "unknown";
}

function knownType(word: string): string | undefined {
  const name = word.toLowerCase();
  return Object.hasOwn(CONTENT_TYPES, name) ? CONTENT_TYPES[name] : undefined;
}
