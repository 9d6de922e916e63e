import { readFileSync } from "node:fs";
import { join } from "node:path";
import { readServerFile } from "../localstack/server-file.ts";
import { CommandFailure, type Flag, type Terminal, UsageError } from "./command.ts";

const DATA_DIR = "./.weft";
const REQUEST_TIMEOUT_MS = 30_000;

export const DATA_DIR_FLAG: Flag = {
  type: "string",
  value: "FOLDER",
  summary: "The server's data folder (WEFT_DATA_DIR, ./.weft)",
};

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
    const token = readFileSync(path, "utf8").trim();
    if (token !== "") return { token, source: path };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ENOENT") throw new CommandFailure(`The token in ${path} cannot be read (${code}).`);
  }
  throw new CommandFailure(
    `There is no access token in ${path} yet.`,
    "It is made at the first start: run `npx weft start`, or name the data folder with WEFT_DATA_DIR.",
  );
}

/** WEFT_URL, else what the data folder's server wrote at its start, else PORT and HOST as the server takes them. */
export function findUrl(env: Terminal["env"], dataDir: string | undefined): string {
  const set = env.WEFT_URL;
  if (set) {
    if (!/^https?:$/.test(URL.parse(set)?.protocol ?? ""))
      throw new UsageError(`WEFT_URL is no http URL: ${set}`);
    return set.replace(/\/+$/, "");
  }
  const running = readServerFile(dataDirOf(env, dataDir));
  return running?.url ?? `http://${env.HOST || "127.0.0.1"}:${env.PORT || "3000"}`;
}

/** Requests to the running server. */
export interface Connection {
  /** The JSON of the answer. Throws CommandFailure with the server's message, or a hint when it does not answer. */
  request(method: string, path: string): Promise<unknown>;
}

export function openConnection(terminal: Terminal, dataDir?: string): Connection {
  const url = findUrl(terminal.env, dataDir);
  const { token, source } = findToken(terminal.env, dataDir);
  // From a step: how many runs led to this call.
  const hop = terminal.env["WEFT_HOP"] ?? "";
  const headers = { authorization: `Bearer ${token}`, ...(hop === "" ? {} : { "weft-hop": hop }) };
  return {
    request: async (method, path) => {
      const response = await send(`${url}${path}`, method, headers, url);
      const answer = parse(await response.text());
      if (response.ok) return answer;
      const message = (answer as { message?: unknown } | undefined)?.message;
      throw new CommandFailure(
        `The server refused (${response.status}): ${typeof message === "string" ? printable(message) : "no reason given"}`,
        response.status === 401 ? `The token came from ${source}.` : undefined,
      );
    },
  };
}

async function send(
  url: string,
  method: string,
  headers: Readonly<Record<string, string>>,
  server: string,
): Promise<Response> {
  try {
    return await fetch(url, { method, headers, signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS) });
  } catch (error) {
    const { cause, name } = error as { cause?: NodeJS.ErrnoException; name?: string };
    throw new CommandFailure(
      `Weft does not answer at ${server} (${cause?.code ?? name}).`,
      "Start it with `npx weft start`, or say where it is with WEFT_URL.",
    );
  }
}

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
