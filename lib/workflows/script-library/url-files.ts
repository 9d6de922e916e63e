import { createHash } from "node:crypto";
import { isRecord, textOf } from "./argument-values.ts";
import { linesOf, writeLines } from "./file-access.ts";
import type { FunctionContext, LibraryFunction } from "./library-types.ts";
import { fieldOf } from "./records.ts";
import { formatUrl, toUrl } from "./urls.ts";

const group = "url_processing";
const STATIC =
  /\.(?:apng|png|bmp|gif|ico|cur|jpe?g|jfif|pjp|pjpeg|svg|tiff?|webp|xbm|3gp|aac|flac|mpe?g|mp[34]|m4[apv]|og[agv]|mov|wav|webm|eot|woff2?|[ot]tf|css)$/i;
const DATE = /\d{2,4}([-/])\d{1,2}\1\d{1,2}/;
const CONTENT =
  /\/(?:articles|about|blog|events?|shop|posts?|products?|docs|support|pages|media|careers|jobs|videos?|resources?|news)\//i;
const NUMBERED = /\/\d+(?:\.[a-z]+)?$/i;
const SEGMENT_MAX_CHARS = 100;
const SEGMENT_MAX_DASHES = 3;

/** The URL in a line: the line itself, or a field of its JSON. */
function addressIn(line: string, field: string): string {
  if (field === "") return line;
  try {
    const record: unknown = JSON.parse(line);
    return isRecord(record) ? textOf(fieldOf(record, field)) : "";
  } catch {
    return "";
  }
}

/**
 * Lines with a distinct URL: skips images, fonts and styles, URLs that differ only in query values, and all but one
 * article-like URL per host.
 */
function* interesting(path: unknown, field: string, context: FunctionContext): Generator<string> {
  const seen = new Set<string>();
  const noisy = new Set<string>();
  for (const raw of linesOf(path, context)) {
    const line = raw.trim();
    const url = toUrl(addressIn(line, field));
    if (url === undefined || url.hostname === "" || STATIC.test(url.pathname)) continue;
    const segments = url.pathname.split("/");
    if (
      segments.some(
        (part) => part.length > SEGMENT_MAX_CHARS || part.split("-").length - 1 > SEGMENT_MAX_DASHES,
      )
    )
      continue;
    const names = [...new Set(url.searchParams.keys())].sort();
    const key = createHash("sha1")
      .update(JSON.stringify([url.host, url.pathname, names]))
      .digest("base64");
    if (seen.has(key)) continue;
    seen.add(key);
    if (DATE.test(url.pathname) || CONTENT.test(url.pathname) || NUMBERED.test(url.pathname)) {
      if (noisy.has(url.hostname)) continue;
      noisy.add(url.hostname);
    }
    yield line;
  }
}

export const urlFileFunctions = {
  interesting_urls: {
    group,
    params: ["source", "dest", "json_field?"],
    returns: "boolean",
    summary:
      "Writes the lines with distinct URLs: no images, fonts and style sheets, none that differ only in query values, and one per host that looks like an article",
    example: 'interesting_urls("all-urls.txt", "urls.txt")',
    failure: false,
    run: ([source, dest, field], context: FunctionContext) => {
      writeLines(dest, interesting(source, textOf(field), context), context);
      return true;
    },
  },
  parse_url_file: {
    group,
    params: ["input", "format", "output"],
    returns: "boolean",
    summary: "Writes the distinct parts of the URL of each line, as parse_url does",
    example: 'parse_url_file("urls.txt", "%d", "domains.txt")',
    failure: false,
    run: ([input, format, output], context: FunctionContext) => {
      const pieces = function* (): Generator<string> {
        const seen = new Set<string>();
        for (const line of linesOf(input, context)) {
          const text = formatUrl(line, textOf(format));
          if (text === "" || seen.has(text)) continue;
          seen.add(text);
          yield text;
        }
      };
      writeLines(output, pieces(), context);
      return true;
    },
  },
} satisfies Record<string, LibraryFunction>;
