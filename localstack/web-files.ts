import { readFileSync, statSync } from "node:fs";
import { open } from "node:fs/promises";
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { webPage } from "../lib/http/web-page.ts";
import type { Log } from "../lib/platform/log.ts";
import { type PageServer, writeError } from "./response.ts";

/** Begins the paths of files whose names contain a hash of their content. */
const ASSETS = "/assets/";
/** Begins the name of the script that serves the page without a connection, for all paths. */
const SERVICE_WORKER = "/assets/service-worker-";
const NOT_BUILT = "The web interface is not built: run npm run build:web";

interface WebFile {
  readonly type: string;
  readonly size: number;
  readonly br?: number;
  readonly gz?: number;
}

/** What `web/build/build.ts` writes. */
interface WebBuild {
  readonly modifiedAt: number;
  readonly page: string;
  readonly files: ReadonlyMap<string, WebFile>;
}

/**
 * Serves the built page of `folder`, and its files. Nothing is read before the first request, and files are streamed, so
 * that a server that is not asked for them needs no memory for them.
 */
export function openWebFiles(folder: string, log: Log): PageServer {
  let build: WebBuild | undefined;

  /** Reads the build, again if it was replaced. Undefined if there is none. */
  const currentBuild = (): WebBuild | undefined => {
    const modifiedAt = statSync(join(folder, "web.json"), { throwIfNoEntry: false })?.mtimeMs;
    if (modifiedAt === undefined) return undefined;
    if (build?.modifiedAt !== modifiedAt) build = readBuild(folder, modifiedAt);
    return build;
  };

  const respond = async (
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    path: string,
  ): Promise<void> => {
    const found = currentBuild();
    if (found === undefined) {
      writeError(outgoing, 503, NOT_BUILT, { path });
    } else if (path.startsWith(ASSETS)) {
      const file = found.files.get(path);
      if (file === undefined) writeError(outgoing, 404, "Not found", { path });
      else await writeFile(incoming, outgoing, join(folder, path), file);
    } else {
      writePage(incoming, outgoing, found.page);
    }
  };

  return {
    respond: (incoming, outgoing, path) => {
      if (!isForPage(incoming, path)) return false;
      respond(incoming, outgoing, path).catch((error: unknown) => {
        log.error("a file of the web interface was not sent", { path, error });
        writeError(outgoing, 500, "Internal server error", { path });
      });
      return true;
    },
  };
}

function isForPage({ method, headers }: IncomingMessage, path: string): boolean {
  if (method !== "GET" && method !== "HEAD") return false;
  return path.startsWith(ASSETS) || headers.accept?.includes("text/html") === true;
}

function readBuild(folder: string, modifiedAt: number): WebBuild {
  const { files } = JSON.parse(readFileSync(join(folder, "web.json"), "utf8")) as {
    files: Record<string, WebFile>;
  };
  const page = readFileSync(join(folder, "index.html"), "utf8");
  return { modifiedAt, page, files: new Map(Object.entries(files)) };
}

function writePage(incoming: IncomingMessage, outgoing: ServerResponse, page: string): void {
  const { html, headers } = webPage(page);
  const body = Buffer.from(html);
  outgoing.writeHead(200, {
    "content-type": "text/html; charset=utf-8",
    "content-length": body.length,
    ...headers,
  });
  outgoing.end(incoming.method === "HEAD" ? undefined : body);
}

async function writeFile(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  path: string,
  { type, size, br, gz }: WebFile,
): Promise<void> {
  const encodings = acceptedEncodings(incoming.headers["accept-encoding"]);
  const [ending, encoding, length] =
    br !== undefined && encodings.has("br")
      ? [".br", "br", br]
      : gz !== undefined && encodings.has("gzip")
        ? [".gz", "gzip", gz]
        : ["", undefined, size];
  const headers: OutgoingHttpHeaders = {
    "content-type": type,
    "content-length": length,
    "cache-control": "public, max-age=31536000, immutable",
    vary: "accept-encoding",
    "x-content-type-options": "nosniff",
    ...(path.includes(SERVICE_WORKER) ? { "service-worker-allowed": "/" } : {}),
    ...(encoding === undefined ? {} : { "content-encoding": encoding }),
  };
  if (incoming.method === "HEAD") {
    outgoing.writeHead(200, headers).end();
    return;
  }
  const file = await open(`${path}${ending}`);
  outgoing.writeHead(200, headers);
  await pipeline(file.createReadStream(), outgoing).catch((error: NodeJS.ErrnoException) => {
    // The client has closed the connection.
    if (error.code !== "ERR_STREAM_PREMATURE_CLOSE") throw error;
  });
}

/** Content codings that an `Accept-Encoding` header names without refusing them. RFC 9110, 12.5.3. */
function acceptedEncodings(header: string | string[] | undefined): ReadonlySet<string> {
  const codings = String(header ?? "")
    .toLowerCase()
    .split(",");
  const accepted = codings.filter((coding) => !/;\s*q=0(?:\.0*)?\s*$/.test(coding));
  return new Set(accepted.map((coding) => coding.split(";", 1)[0]?.trim() ?? ""));
}
