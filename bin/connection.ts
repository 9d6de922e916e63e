import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { type ApiClient, createApiClient } from "../client/api.ts";
import { readServerFile } from "../localstack/server-file.ts";
import { CommandFailure, UsageError } from "./errors.ts";
import type { ServerOptions } from "./options.ts";
import { printable, type Terminal, terminal } from "./terminal.ts";

const DEFAULT_DATA_DIR = "./.weft";
const REQUEST_TIMEOUT_MS = 30_000;
const HEALTH_TIMEOUT_MS = 2_000;
const NAME_SERVER_HINT = "Name the server with --url or WEFT_URL.";

type Environment = Terminal["env"];

export interface FoundToken {
  readonly token: string;
  /** The variable or the file that the token was read from. */
  readonly source: string;
}

/** The folder of `--data-dir`, else of the environment. */
export const resolveDataDir = (env: Environment, option: string | undefined): string =>
  option ?? (env.WEFT_DATA_DIR || DEFAULT_DATA_DIR);

/** Reads WEFT_ACCESS_TOKEN, else the data folder's token. Throws CommandFailure if there is none. */
export function findToken(env: Environment, dataDir?: string): FoundToken {
  if (env.WEFT_ACCESS_TOKEN) return { token: env.WEFT_ACCESS_TOKEN, source: "WEFT_ACCESS_TOKEN" };
  const path = join(resolveDataDir(env, dataDir), "access-token");
  try {
    // Reading a named pipe would block until something writes to it.
    if (!statSync(path).isFile())
      throw new CommandFailure(`The access token in ${path} cannot be read: it is not a file.`);
    const token = readFileSync(path, "utf8").trim();
    if (token !== "") return { token, source: path };
  } catch (error) {
    if (error instanceof CommandFailure) throw error;
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ENOENT") throw new CommandFailure(`The access token in ${path} cannot be read (${code}).`);
  }
  throw new CommandFailure(
    `There is no access token in ${path}.`,
    "The first start of a server creates it: run `npx weft start`, or set WEFT_DATA_DIR to its data folder.",
  );
}

const isHttpUrl = (text: string): boolean => /^https?:$/.test(URL.parse(text)?.protocol ?? "");

/** The URL in WEFT_URL, else of the data folder's server, else of PORT and HOST as the server reads them. */
export function findUrl(env: Environment, dataDir: string | undefined): string {
  const url = env.WEFT_URL;
  if (url) {
    if (!isHttpUrl(url)) throw new UsageError(`WEFT_URL must be an http or https URL, not '${url}'.`);
    return url.replace(/\/+$/, "");
  }
  const server = readServerFile(resolveDataDir(env, dataDir));
  return server?.url ?? `http://${env.HOST || "127.0.0.1"}:${env.PORT || "3000"}`;
}

export interface ConnectionOptions {
  /** Maximum time of a request, milliseconds. */
  readonly timeoutMs?: number;
}

export interface OpenOptions {
  readonly accept: string;
  /** Further headers. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Ends the request, also while its response is read; replaces the timeout. */
  readonly signal?: AbortSignal;
}

/** Sends requests to a server. */
export interface Connection {
  readonly url: string;
  readonly token: string;
  /** The server's API. Its calls reject with ErrorResponse, or with NoResponse. */
  readonly api: ApiClient;
  /**
   * Returns a successful response that is read while it is received, such as a file; the path begins at the server's
   * root. Throws ErrorResponse or NoResponse.
   */
  open(path: string, options: OpenOptions): Promise<Response>;
}

/** The server responded with an error status. */
export class ErrorResponse extends CommandFailure {
  override readonly name = "ErrorResponse";
  readonly status: number;
  readonly reason: string;
  constructor(status: number, reason: string, hint?: string) {
    super(`The server returned ${status}: ${reason}`, hint);
    this.status = status;
    this.reason = reason;
  }
}

/** The server did not respond, or not completely. */
export class NoResponse extends CommandFailure {
  override readonly name = "NoResponse";
}

export interface ServerAddress extends FoundToken {
  readonly url: string;
}

/** Connects to the server of the options, else of the environment. Throws UsageError and CommandFailure. */
export function connect(options: ServerOptions, connectionOptions?: ConnectionOptions): Connection {
  const env = serverEnvironment(options);
  const address = { url: findUrl(env, options.dataDir), ...findToken(env, options.dataDir) };
  return connectTo(address, env, connectionOptions);
}

/** The environment with `--url` and `--token` in place of its variables. Throws UsageError. */
export function serverEnvironment({ url, token }: ServerOptions): Environment {
  if (url !== undefined && !isHttpUrl(url))
    throw new UsageError(`--url must be an http or https URL, not '${url}'.`);
  return {
    ...terminal.env,
    ...(url === undefined ? {} : { WEFT_URL: url }),
    ...(token === undefined ? {} : { WEFT_ACCESS_TOKEN: token }),
  };
}

/** Connects like `connect`, but returns undefined if the server is not running. */
export async function connectIfRunning(options: ServerOptions): Promise<Connection | undefined> {
  try {
    await connect(options, { timeoutMs: HEALTH_TIMEOUT_MS }).api.GET("/health");
    return connect(options);
  } catch (error) {
    // Another program may be listening at the default address.
    if (error instanceof CommandFailure) return undefined;
    throw error;
  }
}

export function connectTo(
  { url, token, source }: ServerAddress,
  env: Environment,
  { timeoutMs = REQUEST_TIMEOUT_MS }: ConnectionOptions = {},
): Connection {
  // Set in steps: the number of runs that led to this call.
  const hop = env.WEFT_HOP ?? "";
  const headers = { authorization: `Bearer ${token}`, ...(hop === "" ? {} : { "weft-hop": hop }) };
  const send = async (request: Request, signal: AbortSignal): Promise<Response> => {
    const response = await fetch(request, { signal }).catch((error: unknown) => {
      throw noResponse(url, error);
    });
    if (response.ok) return response;
    throw new ErrorResponse(
      response.status,
      reasonOf(parseJson(await response.text())),
      response.status === 401 ? `The access token is from ${source}.` : undefined,
    );
  };
  return {
    url,
    token,
    api: createApiClient({
      origin: url,
      headers: () => headers,
      fetch: async (request) => readJson(request, await send(request, AbortSignal.timeout(timeoutMs)), url),
    }),
    open: (path, { accept, headers: own, signal = AbortSignal.timeout(timeoutMs) }) =>
      send(new Request(`${url}${path}`, { headers: { ...headers, ...own, accept } }), signal),
  };
}

/** The response, with a body that was received completely and is JSON. Throws NoResponse and CommandFailure. */
async function readJson(request: Request, response: Response, server: string): Promise<Response> {
  const text = await readBody(response, server);
  if (text === "") return new Response(null, { status: 204 });
  const body = parseJson(text);
  if (typeof body === "object" && body !== null) return Response.json(body);
  const { pathname } = new URL(request.url);
  throw new CommandFailure(
    `The server at ${server} is not Weft: ${request.method} ${pathname} did not return JSON.`,
    NAME_SERVER_HINT,
  );
}

/** The message of either service's error format; of several field errors, the first. */
function reasonOf(body: unknown): string {
  const { message, detail, ...fields } = (typeof body === "object" && body !== null ? body : {}) as Record<
    string,
    unknown
  >;
  for (const text of [message, detail]) if (typeof text === "string") return printable(text);
  const [field, texts] = Object.entries(fields).find(([, value]) => Array.isArray(value)) ?? [];
  const [text] = Array.isArray(texts) ? (texts as unknown[]) : [];
  return typeof text === "string" ? printable(`${field}: ${text}`) : "no reason given";
}

function noResponse(server: string, error: unknown): NoResponse {
  const { cause, name } = error as { cause?: NodeJS.ErrnoException; name?: string };
  return new NoResponse(
    `Weft does not respond at ${server} (${cause?.code ?? cause?.message ?? name}).`,
    "Start it with `npx weft start`, or name the server with --url or WEFT_URL.",
  );
}

/** Reads a response to its end. Throws NoResponse if the connection breaks. */
export async function readBody(response: Response, server: string): Promise<string> {
  try {
    return await response.text();
  } catch {
    throw incompleteResponse(server);
  }
}

export const incompleteResponse = (server: string): NoResponse =>
  new NoResponse(
    `The connection to ${server} broke before the response was complete.`,
    "Try again; `weft doctor` shows whether the server is running.",
  );

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
