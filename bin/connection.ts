import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { readServerFile } from "../localstack/server-file.ts";
import {
  type Arguments,
  CommandFailure,
  type Flag,
  JSON_FLAG,
  type Terminal,
  textFlag,
  UsageError,
} from "./command.ts";

const DATA_DIR = "./.weft";
const REQUEST_TIMEOUT_MS = 30_000;

export const DATA_DIR_FLAG: Flag = {
  type: "string",
  value: "FOLDER",
  summary: "The server's data folder (WEFT_DATA_DIR, ./.weft)",
};

/** Of every command that talks to a server. */
export const SERVER_FLAGS = {
  url: { type: "string", value: "URL", summary: "The server (WEFT_URL, else the data folder's)" },
  token: { type: "string", value: "TOKEN", summary: "Its token (WEFT_ACCESS_TOKEN, else the data folder's)" },
  "data-dir": DATA_DIR_FLAG,
  json: JSON_FLAG,
} as const satisfies Readonly<Record<string, Flag>>;

export interface FoundToken {
  readonly token: string;
  /** The variable or the file that it comes from. */
  readonly source: string;
}

/** The folder that was named by the flag, else by the environment. */
export const dataDirOf = (env: Terminal["env"], given: string | undefined): string =>
  given ?? (env.WEFT_DATA_DIR || DATA_DIR);

/** From WEFT_ACCESS_TOKEN, else from the data folder. Throws CommandFailure where there is none. */
export function findToken(env: Terminal["env"], dataDir?: string): FoundToken {
  const set = env.WEFT_ACCESS_TOKEN;
  if (set) return { token: set, source: "WEFT_ACCESS_TOKEN" };
  const path = join(dataDirOf(env, dataDir), "access-token");
  try {
    // A pipe would wait for somebody who writes to it.
    if (!statSync(path).isFile())
      throw new CommandFailure(`The token in ${path} cannot be read: it is not a file.`);
    const token = readFileSync(path, "utf8").trim();
    if (token !== "") return { token, source: path };
  } catch (error) {
    if (error instanceof CommandFailure) throw error;
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ENOENT") throw new CommandFailure(`The token in ${path} cannot be read (${code}).`);
  }
  throw new CommandFailure(
    `There is no access token in ${path} yet.`,
    "It is made at the first start: run `npx weft start`, or name the data folder with WEFT_DATA_DIR.",
  );
}

const isHttp = (text: string): boolean => /^https?:$/.test(URL.parse(text)?.protocol ?? "");

/** WEFT_URL, else what the data folder's server wrote at its start, else PORT and HOST as the server takes them. */
export function findUrl(env: Terminal["env"], dataDir: string | undefined): string {
  const set = env.WEFT_URL;
  if (set) {
    if (!isHttp(set)) throw new UsageError(`WEFT_URL is no http URL: ${set}`);
    return set.replace(/\/+$/, "");
  }
  const running = readServerFile(dataDirOf(env, dataDir));
  return running?.url ?? `http://${env.HOST || "127.0.0.1"}:${env.PORT || "3000"}`;
}

export interface RequestOptions {
  /** Sent as JSON; text as it stands, as `type`. */
  readonly body?: unknown;
  readonly type?: string;
  readonly accept?: string;
  readonly timeoutMs?: number;
}

/** Requests to the running server, each with the path from its root. */
export interface Connection {
  readonly url: string;
  readonly token: string;
  /** The JSON of the answer, undefined where it is empty. Throws Refused with the server's message, or NoAnswer with a hint. */
  request(method: string, path: string, options?: RequestOptions): Promise<unknown>;
  /** The answer itself where it is a good one. Throws as `request` does. */
  open(method: string, path: string, options?: RequestOptions): Promise<Response>;
}

/** The server answered, with an error. */
export class Refused extends CommandFailure {
  override readonly name = "Refused";
  readonly status: number;
  readonly reason: string;
  constructor(status: number, reason: string, hint?: string) {
    super(`The server refused (${status}): ${reason}`, hint);
    this.status = status;
    this.reason = reason;
  }
}

/** Nobody answered. */
export class NoAnswer extends CommandFailure {
  override readonly name = "NoAnswer";
}

/** A server and its token, and where that comes from. */
export interface Server extends FoundToken {
  readonly url: string;
}

/** To the server of a data folder. */
export function openConnection(terminal: Terminal, dataDir?: string): Connection {
  return connectTo(
    { url: findUrl(terminal.env, dataDir), ...findToken(terminal.env, dataDir) },
    terminal.env,
  );
}

/** To the server that the flags name, else the environment. */
export function connect(args: Arguments, terminal: Terminal): Connection {
  return openConnection(withServerFlags(args, terminal), textFlag(args, "data-dir"));
}

/** `--url` and `--token` stand for what the environment says. Throws UsageError. */
export function withServerFlags(args: Arguments, terminal: Terminal): Terminal {
  const url = textFlag(args, "url");
  const token = textFlag(args, "token");
  if (url !== undefined && !isHttp(url)) throw new UsageError(`--url is no http URL: ${url}`);
  const env = {
    ...terminal.env,
    ...(url === undefined ? {} : { WEFT_URL: url }),
    ...(token === undefined ? {} : { WEFT_ACCESS_TOKEN: token }),
  };
  return { ...terminal, env };
}

export function connectTo({ url, token, source }: Server, env: Terminal["env"]): Connection {
  // From a step: how many runs led to this call.
  const hop = env.WEFT_HOP ?? "";
  const own = { authorization: `Bearer ${token}`, ...(hop === "" ? {} : { "weft-hop": hop }) };
  const open: Connection["open"] = async (method, path, options = {}) => {
    const response = await send(url, path, method, own, options);
    if (response.ok) return response;
    throw new Refused(
      response.status,
      reasonOf(parse(await response.text())),
      response.status === 401 ? `The token came from ${source}.` : undefined,
    );
  };
  return {
    url,
    token,
    open,
    request: async (method, path, options) => {
      const text = await textOf(await open(method, path, options), url);
      if (text === "") return undefined;
      const answer = parse(text);
      if (typeof answer === "object" && answer !== null) return answer;
      throw new CommandFailure(`What answers at ${url} is not Weft: ${method} ${path} gave no JSON.`, WHERE);
    },
  };
}

/** What either service says of an error; of several fields the first is told. */
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

async function send(
  server: string,
  path: string,
  method: string,
  own: Readonly<Record<string, string>>,
  { body, type, accept, timeoutMs = REQUEST_TIMEOUT_MS }: RequestOptions,
): Promise<Response> {
  const headers: Record<string, string> = { ...own, ...(accept === undefined ? {} : { accept }) };
  if (body !== undefined) headers["content-type"] = type ?? "application/json";
  const sent = typeof body === "string" ? body : JSON.stringify(body);
  try {
    return await fetch(`${server}${path}`, {
      method,
      headers,
      signal: AbortSignal.timeout(timeoutMs),
      ...(sent === undefined ? {} : { body: sent }),
    });
  } catch (error) {
    const { cause, name } = error as { cause?: NodeJS.ErrnoException; name?: string };
    throw new NoAnswer(
      `Weft does not answer at ${server} (${cause?.code ?? cause?.message ?? name}).`,
      `Start it with \`npx weft start\`, or say where it is with --url or WEFT_URL.`,
    );
  }
}

const WHERE = "Say where Weft is with --url or WEFT_URL.";

/** All of an answer. Throws NoAnswer where the server goes away in the middle of it. */
export async function textOf(response: Response, server: string): Promise<string> {
  try {
    return await response.text();
  } catch {
    throw brokenOff(server);
  }
}

/** The server went away while it answered. */
export const brokenOff = (server: string): NoAnswer =>
  new NoAnswer(`The answer of ${server} broke off.`, "Ask again; `weft doctor` looks whether it is up.");

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** On one line, without anything that a terminal would act on. */
export function printable(text: string): string {
  return text.replace(/\p{C}+/gu, " ").trim();
}
