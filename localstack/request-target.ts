export interface RequestTarget {
  /** As sent, without the query. */
  readonly path: string;
  /** The path that routes are matched with: normalized percent-encoding, no slash at the end. */
  readonly routePath: string;
  /** Without the question mark; empty if the target has no query. */
  readonly query: string;
}

/**
 * Parses the target of a request line in origin or absolute form; Node rejects bytes beyond ASCII. Dot segments and
 * repeated slashes are kept: no route has them. Undefined for malformed percent-encoding, encoded bytes that are not
 * UTF-8, and NUL.
 */
export function parseTarget(url: string): RequestTarget | undefined {
  const target = originForm(url);
  if (target === undefined) return undefined;
  const queryStart = target.indexOf("?");
  const path = queryStart === -1 ? target : target.slice(0, queryStart);
  const query = queryStart === -1 ? "" : target.slice(queryStart + 1);
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
