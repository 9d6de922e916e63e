import { hash } from "node:crypto";
import { open, realpath } from "node:fs/promises";
import { extname, join, sep } from "node:path";
import { ApiError } from "../errors.ts";
import { acceptedEncodings } from "./accept-encoding.ts";
import type { FileResponse } from "./file-response.ts";
import type { RequestInfo } from "./route.ts";

/** Largest file that is served, bytes. A file is held in memory while it is sent. */
const FILE_MAX_BYTES = 16 * 1024 * 1024;
const PATH_MAX_LENGTH = 1024;
/** Longest `If-None-Match` header that is read, characters. */
const CONDITION_MAX_LENGTH = 4096;
/** ETags that are remembered, so that a file is hashed once. */
const ETAGS_MAX = 1000;

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  ".avif": "image/avif",
  ".css": "text/css; charset=utf-8",
  ".gif": "image/gif",
  ".html": "text/html; charset=utf-8",
  ".ico": "image/vnd.microsoft.icon",
  ".jpg": "image/jpeg",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json; charset=utf-8",
  ".map": "application/json; charset=utf-8",
  ".mjs": "text/javascript; charset=utf-8",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".txt": "text/plain; charset=utf-8",
  ".wasm": "application/wasm",
  ".webmanifest": "application/manifest+json",
  ".webp": "image/webp",
  ".woff2": "font/woff2",
  ".xml": "application/xml; charset=utf-8",
};
const UNKNOWN_TYPE = "application/octet-stream";

/** Content codings and the extensions of precompressed files, the preferred one first. */
const ENCODINGS = [
  { encoding: "br", extension: ".br" },
  { encoding: "gzip", extension: ".gz" },
] as const;

export interface StaticFileOptions {
  /** Served for the empty path. Default `index.html`. */
  readonly index?: string;
  /** The `Cache-Control` of a file; by default it is revalidated with its ETag on each use. */
  readonly cacheControl?: (path: string) => string;
  /** Further headers. Pages need a `content-security-policy`: the default is `sandbox`. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface StaticFiles {
  /**
   * The response with the file at a path below the folder, as in the `{proxy+}` parameter of a GET route. Sends the
   * precompressed file next to it (`app.js.br`, `app.js.gz`) if the client accepts it. Throws `not_found` for paths that
   * lead to no regular file inside of the folder, for hidden files and for files larger than 16 MiB.
   *
   * A HEAD request gets the same headers without content. The local gateway passes HEAD to GET routes; API Gateway needs
   * a route with method `HEAD`.
   */
  respond(request: Pick<RequestInfo, "method" | "headers">, path: string): Promise<FileResponse>;
}

/** Serves the files of a folder to a route that declares `fileTypes`. */
export function staticFiles(folder: string, options: StaticFileOptions = {}): StaticFiles {
  const { index = "index.html", cacheControl = () => "no-cache", headers: further = {} } = options;
  const etags = new Map<string, string>();

  const etagOf = ({ path, version, bytes }: FileContent): string => {
    const key = `${path} ${version}`;
    const known = etags.get(key);
    if (known !== undefined) return known;
    const etag = `"${hash("sha256", bytes, "base64url").slice(0, 22)}"`;
    if (etags.size >= ETAGS_MAX) etags.clear();
    etags.set(key, etag);
    return etag;
  };

  return {
    respond: async ({ method, headers }, requested) => {
      const path = requested === "" ? index : requested;
      if (!isServable(path)) throw notFound();
      const root = await realpath(folder).catch(() => undefined);
      const file = root === undefined ? undefined : await readVariant(root, path, headers["accept-encoding"]);
      if (file === undefined) throw notFound();
      const etag = etagOf(file);
      const common = {
        ...further,
        "cache-control": cacheControl(path),
        etag,
        vary: "accept-encoding",
      };
      const type = CONTENT_TYPES[extname(path).toLowerCase()] ?? UNKNOWN_TYPE;
      if (isUnchanged(headers["if-none-match"], etag))
        return { status: 304, type, headers: common, content: chunks() };
      return {
        status: 200,
        type,
        headers: {
          ...common,
          "content-encoding": file.encoding,
          "content-length": String(file.bytes.length),
        },
        content: method === "HEAD" ? chunks() : chunks(file.bytes),
      };
    },
  };
}

const notFound = (): ApiError => new ApiError("not_found", "Not found");

/** Without empty, hidden and dot segments, and without characters that some system reads as a separator. */
function isServable(path: string): boolean {
  if (path.length > PATH_MAX_LENGTH || /[\0\\:]/.test(path)) return false;
  return path.split("/").every((segment) => segment !== "" && !segment.startsWith("."));
}

interface FileContent {
  readonly path: string;
  /** Changes with the file. */
  readonly version: string;
  readonly bytes: Buffer;
  readonly encoding: string | undefined;
}

/** The file, or the precompressed one that the client prefers. Undefined if the file does not exist. */
async function readVariant(
  root: string,
  path: string,
  acceptEncoding: string | undefined,
): Promise<FileContent | undefined> {
  const accepted = acceptedEncodings(
    acceptEncoding,
    ENCODINGS.map(({ encoding }) => encoding),
  );
  for (const name of accepted) {
    const found = ENCODINGS.find(({ encoding }) => encoding === name);
    if (found === undefined) break;
    const { encoding, extension } = found;
    const file = await readFileInside(root, `${path}${extension}`);
    // A compressed file without its original is a leftover.
    if (file !== undefined) return (await exists(root, path)) ? { ...file, encoding } : undefined;
  }
  const file = await readFileInside(root, path);
  return file && { ...file, encoding: undefined };
}

const exists = async (root: string, path: string): Promise<boolean> =>
  (await pathInside(root, path)) !== undefined;

/** The real path of a file; undefined if it does not exist or a symbolic link leads out of the folder. */
async function pathInside(root: string, path: string): Promise<string | undefined> {
  const real = await realpath(join(root, path)).catch(() => undefined);
  return real?.startsWith(root.endsWith(sep) ? root : `${root}${sep}`) === true ? real : undefined;
}

async function readFileInside(
  root: string,
  path: string,
): Promise<Omit<FileContent, "encoding"> | undefined> {
  const real = await pathInside(root, path);
  if (real === undefined) return undefined;
  const handle = await open(real, "r").catch(() => undefined);
  if (handle === undefined) return undefined;
  try {
    const stats = await handle.stat();
    if (!stats.isFile() || stats.size > FILE_MAX_BYTES) return undefined;
    const bytes = await handle.readFile();
    return { path: real, version: `${stats.ino} ${stats.mtimeMs} ${stats.size}`, bytes };
  } finally {
    await handle.close();
  }
}

/** Whether `If-None-Match` names the ETag. The comparison is weak, as RFC 9110, 13.1.2 requires. */
function isUnchanged(condition: string | undefined, etag: string): boolean {
  if (condition === undefined || condition.length > CONDITION_MAX_LENGTH) return false;
  return condition.split(",").some((tag) => {
    const one = tag.trim().replace(/^W\//, "");
    return one === "*" || one === etag;
  });
}

async function* chunks(...all: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* all;
}
