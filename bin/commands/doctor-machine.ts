import { spawnSync } from "node:child_process";
import { accessSync, constants, existsSync, type Stats, statfsSync, statSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, join, resolve } from "node:path";
import { checkCollaborationApi } from "../../lib/documents/connections/live-connections.ts";
import { checkDocspec } from "../../lib/documents/imports/docspec.ts";
import { readConfig } from "../../lib/settings/config.ts";
import type { DocspecSettings } from "../../lib/settings/document-config.ts";
import { readServerFile } from "../../localstack/server-file.ts";
import { findUrl } from "../connection.ts";
import type { Terminal } from "../terminal.ts";

export interface Check {
  readonly name: string;
  readonly level: "ok" | "warn" | "fail";
  readonly text: string;
  /** What to do. */
  readonly hint?: string;
}

type Environment = Terminal["env"];

const NODE_MAJOR_MIN = 24;
const GROUP_AND_OTHERS_MODE = 0o077;
const MIB = 1024 * 1024;
const SPACE_WARN_BYTES = 1024 * MIB;
const SPACE_FAIL_BYTES = 100 * MIB;
const RESPONSE_TIMEOUT_MS = 5_000;
const OTHER_HINT = "set --data-dir or WEFT_DATA_DIR to its data folder, or WEFT_URL to its URL";

/** Checks whether Weft can run on this machine, and the data folder's server. */
export async function checkMachine(env: Environment, dataDir: string): Promise<Check[]> {
  const server = await checkServer(env, dataDir);
  return [
    checkNode(),
    checkBash(env),
    checkFolder(dataDir),
    checkSpace(dataDir),
    checkPrivate("token", join(dataDir, "access-token"), "created by the first start"),
    checkPrivate("secrets", join(dataDir, "secrets.env"), "none (optional)"),
    server,
    await checkPort(env, server.level === "ok"),
    await checkCollaboration(env, server.level === "ok" ? findUrl(env, dataDir) : undefined),
    ...(await checkConversion(env)),
    await checkFonts(),
  ];
}

function checkNode(): Check {
  const { node } = process.versions;
  if (Number(node.split(".")[0]) >= NODE_MAJOR_MIN) return { name: "node", level: "ok", text: node };
  return {
    name: "node",
    level: "fail",
    text: `${node} is too old`,
    hint: "run npm ci, which installs the required version",
  };
}

function checkBash(env: Environment): Check {
  const { stdout, status } = spawnSync("bash", ["-c", 'echo "$BASH_VERSION"'], {
    env: { PATH: env.PATH },
    encoding: "utf8",
    timeout: RESPONSE_TIMEOUT_MS,
  });
  if (status === 0) return { name: "bash", level: "ok", text: stdout.trim() };
  return { name: "bash", level: "warn", text: "not found: sh runs the bash steps", hint: "install bash" };
}

function checkFolder(dataDir: string): Check {
  const name = "folder";
  const path = resolve(dataDir);
  const stats = statOf(path);
  const existing = stats === undefined ? nearestExisting(path) : path;
  const hint = "choose another folder with --data-dir or WEFT_DATA_DIR, or make your user its owner";
  if (statOf(existing)?.isDirectory() !== true)
    return { name, level: "fail", text: `${existing} is not a folder`, hint };
  try {
    accessSync(existing, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return { name, level: "fail", text: `${existing} cannot be written (${code})`, hint };
  }
  if (stats === undefined) return { name, level: "ok", text: `${path} is created by the first start` };
  if ((stats.mode & GROUP_AND_OTHERS_MODE) === 0) return { name, level: "ok", text: path };
  return { name, level: "warn", text: `${path} is accessible to other users`, hint: `chmod 700 ${path}` };
}

function checkSpace(dataDir: string): Check {
  const name = "space";
  try {
    const { bavail, bsize } = statfsSync(nearestExisting(resolve(dataDir)));
    const free = bavail * bsize;
    const text = `${Math.floor(free / MIB).toLocaleString("en-US")} MiB free`;
    if (free >= SPACE_WARN_BYTES) return { name, level: "ok", text };
    return {
      name,
      level: free < SPACE_FAIL_BYTES ? "fail" : "warn",
      text,
      hint: "free space on the data folder's disk",
    };
  } catch (error) {
    return { name, level: "warn", text: `unknown (${(error as NodeJS.ErrnoException).code})` };
  }
}

/** The server rejects a file that other users can read. */
function checkPrivate(name: string, path: string, missing: string): Check {
  const stats = statOf(path);
  if (stats === undefined) return { name, level: "ok", text: missing };
  const mode = (stats.mode & 0o777).toString(8).padStart(4, "0");
  if ((stats.mode & GROUP_AND_OTHERS_MODE) === 0) return { name, level: "ok", text: `${path} (${mode})` };
  return {
    name,
    level: "fail",
    text: `${path} is readable by other users (${mode})`,
    hint: `chmod 600 ${path}`,
  };
}

async function checkServer(env: Environment, dataDir: string): Promise<Check> {
  const name = "server";
  const url = findUrl(env, dataDir);
  const running = readServerFile(dataDir);
  try {
    const { status } = await fetch(`${url}/health/ready`, {
      signal: AbortSignal.timeout(RESPONSE_TIMEOUT_MS),
    });
    if (status === 200 && running === undefined && !env.WEFT_URL) {
      return { name, level: "warn", text: `the server at ${url} uses another data folder`, hint: OTHER_HINT };
    }
    if (status === 200) return { name, level: "ok", text: `${url} is up, its tables and queues respond` };
    return {
      name,
      level: "fail",
      text: `${url}/health/ready returned ${status}`,
      hint: "read the server's log",
    };
  } catch (error) {
    const reason = (error as { cause?: NodeJS.ErrnoException }).cause?.code ?? (error as Error).name;
    if (running !== undefined && isAlive(running.pid)) {
      const text = `process ${running.pid} does not respond at ${url} (${reason})`;
      return { name, level: "fail", text, hint: "read the server's log, then restart the server" };
    }
    return {
      name,
      level: "warn",
      text: `no server responds at ${url} (${reason})`,
      hint: "start it with: npx weft start",
    };
  }
}

/** Checks whether a server could listen, unless one is running. */
async function checkPort(env: Environment, isUp: boolean): Promise<Check> {
  const name = "port";
  let config: ReturnType<typeof readConfig>;
  try {
    config = readConfig(env);
  } catch (error) {
    return {
      name,
      level: "fail",
      text: (error as Error).message,
      hint: "fix this setting in the environment",
    };
  }
  const { host, port } = config;
  if (isUp) return { name, level: "ok", text: "in use by the server" };
  const code = await listenError(host, port);
  if (code === undefined) return { name, level: "ok", text: `${port} on ${host} is free` };
  const hint = "choose another port with PORT (0 selects a free one), or another address with HOST";
  return { name, level: "fail", text: `${port} on ${host} cannot be opened (${code})`, hint };
}

/** Checks whether editors can connect, as the server with this URL or the settings say. */
async function checkCollaboration(env: Environment, url: string | undefined): Promise<Check> {
  const name = "collaboration";
  const found = url === undefined ? await checkSeparate(env) : await readCollaboration(url);
  if (found === undefined) return { name, level: "ok", text: "starts with the server" };
  const { advice, rooms } = found;
  if (advice !== undefined) return { name, level: "fail", ...toHint(advice) };
  if (url === undefined || rooms === undefined)
    return { name, level: "ok", text: "the separate server responds, and its keys are the same" };
  const address = `${url.replace(/^http/, "ws")}/collaboration/ws/`;
  if (await acceptsSockets(address)) return { name, level: "ok", text: `${address} accepts connections` };
  const hint = "let proxies in front of the server pass on upgrade requests; until then, editors use HTTP";
  return { name, level: "warn", text: `${address} accepts no WebSocket connections`, hint };
}

/** Checks the server of DOCSPEC_API_URL, if it is set. */
async function checkConversion(env: Environment): Promise<Check[]> {
  const name = "conversion";
  let docspec: DocspecSettings | undefined;
  try {
    ({ docspec } = readConfig(env).documents);
  } catch {
    // Another check reports the invalid setting.
  }
  if (docspec === undefined) return [];
  const advice = await checkDocspec(docspec);
  if (advice !== undefined) return [{ name, level: "fail", ...toHint(advice) }];
  return [{ name, level: "ok", text: "DocSpec 3.0.0 or newer converts .docx files" }];
}

/** Checks whether an exported PDF can show each script. */
async function checkFonts(): Promise<Check> {
  const name = "fonts";
  // Imported here because the compiler of PDFs takes a moment to load.
  const { missingScripts } = await import("../../lib/export/fonts.ts");
  const missing = await missingScripts();
  if (missing.length === 0)
    return { name, level: "ok", text: "PDFs can show Latin, Greek, Cyrillic, CJK, Arabic and emoji" };
  const hint = "install fonts: sudo apt-get install fonts-noto-core fonts-noto-cjk fonts-noto-color-emoji";
  return { name, level: "warn", text: `PDFs show boxes for: ${missing.join(", ")}`, hint };
}

/** Splits a sentence that says what to do after its last colon. */
function toHint(advice: string): { readonly text: string; readonly hint: string } {
  const [text = "", hint = ""] = advice.split(/: (?=[^:]*$)/);
  return { text, hint };
}

interface Collaboration {
  readonly advice?: string | undefined;
  /** Undefined for a separate server. */
  readonly rooms?: number;
}

async function readCollaboration(url: string): Promise<Collaboration | undefined> {
  const response = await fetch(`${url}/health/ready`, { signal: AbortSignal.timeout(RESPONSE_TIMEOUT_MS) });
  const body = (await response.json().catch(() => undefined)) as
    | { collaboration?: Collaboration }
    | undefined;
  return body?.collaboration;
}

/** A separate server of these settings, which the document service may not have asked yet. */
async function checkSeparate(env: Environment): Promise<Collaboration | undefined> {
  try {
    const { collaborationApi } = readConfig(env).documents;
    if (collaborationApi === undefined) return undefined;
    return { advice: await checkCollaborationApi(collaborationApi) };
  } catch {
    // Another check reports the invalid setting.
    return undefined;
  }
}

function acceptsSockets(address: string): Promise<boolean> {
  return new Promise((done) => {
    const socket = new WebSocket(address);
    const timer = setTimeout(() => end(false), RESPONSE_TIMEOUT_MS);
    const end = (isOpen: boolean): void => {
      clearTimeout(timer);
      socket.close();
      done(isOpen);
    };
    socket.addEventListener("open", () => end(true));
    socket.addEventListener("error", () => end(false));
  });
}

function listenError(host: string, port: number): Promise<string | undefined> {
  return new Promise((done) => {
    const server = createServer();
    server.once("error", ({ code }: NodeJS.ErrnoException) => done(code ?? "unknown"));
    server.listen({ host, port }, () => server.close(() => done(undefined)));
  });
}

function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** The path, or the nearest of its parent folders that exists. */
function nearestExisting(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearestExisting(dirname(path));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
