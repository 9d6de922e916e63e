import { isUtf8 } from "node:buffer";

export interface RequestTarget {
  /** As sent, without the query. */
  readonly path: string;
  /** What routes are matched with: percent-encoding in one form, no slash at the end. */
  readonly routePath: string;
  /** Without the question mark; empty where there is none. */
  readonly query: string;
}

const NOT_ASCII = /[\x80-\uffff]/;

/**
 * Reads the target of a request line, origin or absolute form. Dot segments and doubled slashes stay as
 * they are: no route has them. Undefined for malformed percent-encoding, bytes that are not UTF-8, and NUL.
 */
export function parseTarget(url: string): RequestTarget | undefined {
  const target = originForm(url);
  const text = target === undefined || !NOT_ASCII.test(target) ? target : utf8(target);
  if (text === undefined) return undefined;
  const mark = text.indexOf("?");
  const path = mark === -1 ? text : text.slice(0, mark);
  const query = mark === -1 ? "" : text.slice(mark + 1);
  const normal = path.includes("%") ? normalEncoding(path) : path;
  if (normal === undefined) return undefined;
  const routePath = normal.length > 1 && normal.endsWith("/") ? normal.slice(0, -1) : normal;
  return { path, routePath, query };
}

function originForm(url: string): string | undefined {
  if (url.startsWith("/")) {
    const hash = url.indexOf("#");
    return hash === -1 ? url : url.slice(0, hash);
  }
  const absolute = URL.parse(url);
  return absolute === null ? undefined : `${absolute.pathname}${absolute.search}`;
}

/** Node gives the bytes of the request line as Latin-1. */
function utf8(text: string): string | undefined {
  const bytes = Buffer.from(text, "latin1");
  return isUtf8(bytes) ? bytes.toString("utf8") : undefined;
}

function normalEncoding(path: string): string | undefined {
  try {
    const normal = path
      .split("/")
      .map((part) => encodeURIComponent(decodeURIComponent(part)))
      .join("/");
    return normal.includes("%00") ? undefined : normal;
  } catch {
    return undefined;
  }
}
