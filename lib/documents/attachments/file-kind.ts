import { isUtf8 } from "node:buffer";
import { fileTypeFromBuffer } from "file-type";
import { UNSAFE_TYPES } from "./unsafe-types.ts";

/** What an uploaded file is. */
export interface FileKind {
  /** Content type, recognized from the bytes. */
  readonly type: string;
  /** Letters and digits, in lower case. */
  readonly extension: string;
  /** Its type is dangerous to open, or not the one that its name promises. */
  readonly isUnsafe: boolean;
}

/** Bytes at the beginning of a file that its type is recognized from. */
export const HEAD_BYTES = 64 * 1024;
/** A longer extension is replaced by the one of the type. */
const EXTENSION_MAX = 5;
/** Text whose first bytes are of a page, after the whitespace that browsers skip. */
const SNIFFED_BYTES = 4096;

const PLAIN = "text/plain";
const BINARY = "application/octet-stream";
const EXTENSIONS: Readonly<Record<string, string>> = {
  [PLAIN]: "txt",
  [BINARY]: "bin",
  "text/html": "html",
  "image/svg+xml": "svg",
  "application/x-sh": "sh",
  "application/x-httpd-php": "php",
};

/** Extensions of text without a signature: what is in such a file cannot be recognized more precisely. */
const TEXT_EXTENSIONS: ReadonlySet<string> = new Set(
  "bib cfg conf csv diff eml env geojson ics ini json jsonl log md mdx org patch po properties rst srt svc tex text toml tsv txt vcf vtt yaml yml".split(
    " ",
  ),
);

/** Extensions that mean the same type. */
const SAME: readonly (readonly string[])[] = [
  ["jpg", "jpeg", "jpe", "jfif"],
  ["tif", "tiff"],
  ["mp4", "m4v", "m4a", "mov"],
  ["ogg", "oga", "ogv", "ogx", "opus"],
  ["mkv", "webm"],
  ["mid", "midi"],
  ["mpg", "mpeg", "mp3", "mp2"],
  ["htm", "html"],
  ["heic", "heif"],
  ["aif", "aiff"],
  ["apng", "png"],
  ["gz", "tgz"],
];

const isSame = (one: string, other: string): boolean =>
  one === other || SAME.some((names) => names.includes(one) && names.includes(other));

/** Markup at the beginning of a text, after its comments. WHATWG MIME Sniffing 7.1, and SVG, scripts and PHP. */
const MARKUP: readonly (readonly [type: string, pattern: RegExp])[] = [
  ["application/x-httpd-php", /^<\?(?:php|=)/i],
  ["image/svg+xml", /^<(?:\w{1,40}:)?svg[\s>/]/i],
  [
    "text/html",
    /^<(?:!doctype html|html|head|body|script|iframe|h1|div|font|table|a|style|title|b|br|p|img|object|embed|meta|link|form|math|template|base)[\s>/]/i,
  ],
  ["application/x-sh", /^#!/],
];
const XML = /^<(?:\?xml|!doctype|!entity|\w)/i;
/** What may precede an element: its beginning, and its end. */
const PROLOG: readonly (readonly [start: RegExp, end: string])[] = [
  [/^<!--/, "-->"],
  [/^<\?xml/i, "?>"],
  [/^<!doctype svg/i, ">"],
];
/** A page or an SVG image that begins with text. */
const MARKUP_WITHIN = /<(?:script|svg|iframe|object|embed|html)[\s>/]|<!doctype html/i;

/**
 * Recognizes a file by its first bytes, up to HEAD_BYTES; its name decides only whether it is what it promises to be.
 * Reference 1.7.
 */
export async function recognizeFile(
  head: Uint8Array,
  name: string,
  { checksTypes }: { readonly checksTypes: boolean },
): Promise<FileKind> {
  const { type, extension: usual } = await recognizeType(head);
  const named = extensionOf(name);
  const extension = named !== undefined && named.length <= EXTENSION_MAX ? named : usual;
  return {
    type,
    extension,
    isUnsafe: checksTypes && (UNSAFE_TYPES.has(type) || !matches(named, type, usual)),
  };
}

/** The extension of a name in lower case; undefined without one of letters and digits. */
function extensionOf(name: string): string | undefined {
  return /[^.]\.([A-Za-z0-9]{1,10})$/.exec(name)?.[1]?.toLowerCase();
}

function matches(named: string | undefined, type: string, usual: string): boolean {
  if (named === undefined) return false;
  return type === PLAIN ? TEXT_EXTENSIONS.has(named) : isSame(named, usual);
}

async function recognizeType(head: Uint8Array): Promise<Pick<FileKind, "type" | "extension">> {
  const text = textOf(head);
  const markup = text === undefined ? undefined : markupType(text);
  // A signature of printable characters may begin a page: BM, MZ, GIF89a.
  const found = await fileTypeFromBuffer(head).catch(() => undefined);
  if (found !== undefined && found.mime !== "application/xml") {
    if (text === undefined || !MARKUP_WITHIN.test(text))
      return { type: found.mime.toLowerCase(), extension: found.ext };
    return { type: "text/html", extension: "html" };
  }
  if (markup !== undefined) return { type: markup, extension: EXTENSIONS[markup] ?? "xml" };
  const type = text === undefined ? BINARY : PLAIN;
  return { type, extension: EXTENSIONS[type] ?? "bin" };
}

/** The head as text; undefined if it contains bytes that text does not. */
function textOf(head: Uint8Array): string | undefined {
  if (head[0] === 0xff && head[1] === 0xfe) return decode("utf-16le", head);
  if (head[0] === 0xfe && head[1] === 0xff) return decode("utf-16be", head);
  // The head may end within a character.
  const isText = [0, 1, 2, 3].some((cut) => isUtf8(head.subarray(0, head.length - cut)));
  if (!isText || head.some((byte) => byte === 0 || (byte < 0x20 && !WHITESPACE.has(byte)))) return undefined;
  return decode("utf-8", head);
}

/** Tab, line feed, form feed, carriage return, escape. */
const WHITESPACE: ReadonlySet<number> = new Set([0x09, 0x0a, 0x0c, 0x0d, 0x1b]);

const decode = (encoding: string, head: Uint8Array): string => new TextDecoder(encoding).decode(head);

function markupType(text: string): string | undefined {
  let rest = text.slice(0, SNIFFED_BYTES).trimStart();
  const isXml = XML.test(rest);
  for (;;) {
    const found = MARKUP.find(([, pattern]) => pattern.test(rest));
    if (found !== undefined) return found[0];
    const end = PROLOG.find(([start]) => start.test(rest))?.[1];
    const at = end === undefined ? -1 : rest.indexOf(end);
    if (end === undefined || at < 0) return isXml ? "application/xml" : undefined;
    rest = rest.slice(at + end.length).trimStart();
  }
}
