import { appendFile, mkdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Ports } from "../../platform/ports.ts";
import type { Attempt, StepPaths } from "./context.ts";

/** Path of the readable log of a run, in the run's folder among the logs of this machine. */
export const runLogPath = ({ logsDir }: Pick<StepPaths, "logsDir">, runId: string): string =>
  join(logsDir, runId, "run.log");

/** Lines are written together after this delay, milliseconds; readers in this process flush them first. */
const FLUSH_AFTER_MS = 200;
/** Lines are written earlier if more characters than this are buffered. */
const WAITING_MAX = 1024 * 1024;

/** Maximum size of a log, bytes; the output files of steps continue. */
const LOG_MAX_BYTES = 256 * 1024 * 1024;

interface Waiting {
  text: string;
  timer: NodeJS.Timeout;
}

const waiting = new Map<string, Waiting>();
const writing = new Map<string, Promise<void>>();

const watchers = new Map<string, Set<() => void>>();

/** Calls a listener when this process adds lines to a log, until the returned function is called. */
export function watchLog(path: string, listener: () => void): () => void {
  const own = (): void => listener();
  const ofPath = watchers.get(path) ?? new Set();
  watchers.set(path, ofPath.add(own));
  return () => {
    ofPath.delete(own);
    if (ofPath.size === 0 && watchers.get(path) === ofPath) watchers.delete(path);
  };
}

/** `!` marks standard error, `|` any other output. */
export type LineKind = "" | "| " | "! ";

/** Appends text of a step to its run's log, with a prefix on every line, so that no text can imitate another line. */
export function logStep(
  { deps, logs, request, run }: Pick<Attempt, "deps" | "logs" | "request" | "run">,
  text: string,
  kind: LineKind = "",
): void {
  if (run.unlogged === true) return;
  note(deps, join(logs, "run.log"), `[${request.key}] ${kind}`, text);
}

/** Appends a message about the run to its log. */
export function logRun(
  deps: Pick<Ports, "clock" | "secrets" | "log"> & { readonly paths: Pick<StepPaths, "logsDir"> },
  runId: string,
  text: string,
): void {
  note(deps, runLogPath(deps.paths, runId), "", text);
}

function note(
  deps: Pick<Ports, "clock" | "secrets" | "log">,
  path: string,
  prefix: string,
  text: string,
): void {
  const start = `${new Date(deps.clock.now()).toISOString()} ${printable(prefix)}`;
  let lines = "";
  for (const line of deps.secrets.redact(text).split(/\r\n|\r|\n/)) lines += `${start}${printable(line)}\n`;
  addLines(deps, path, lines);
  for (const listener of watchers.get(path) ?? []) listener();
}

function addLines(deps: Pick<Ports, "log">, path: string, lines: string): void {
  const found = waiting.get(path);
  if (found !== undefined) {
    found.text += lines;
    if (found.text.length > WAITING_MAX) void flushLog(path).catch(() => undefined);
    return;
  }
  const timer = setTimeout(() => {
    flushLog(path).catch((error: unknown) => deps.log.warn("writing the log of a run failed", { error }));
  }, FLUSH_AFTER_MS);
  waiting.set(path, { text: lines, timer });
}

/** Writes the buffered lines of a log to its file. */
export async function flushLog(path: string): Promise<void> {
  const found = waiting.get(path);
  if (found !== undefined) {
    clearTimeout(found.timer);
    waiting.delete(path);
    const before = writing.get(path) ?? Promise.resolve();
    const write = before.catch(() => undefined).then(() => append(path, found.text));
    writing.set(path, write);
    const forget = (): void => {
      if (writing.get(path) === write) writing.delete(path);
    };
    write.then(forget, forget);
  }
  await writing.get(path);
}

/** Writes the buffered lines of all logs below a folder, before this process ends. */
export async function flushLogs(folder: string): Promise<void> {
  const paths = new Set([...waiting.keys(), ...writing.keys()].filter((path) => path.startsWith(folder)));
  await Promise.allSettled([...paths].map(flushLog));
}

async function append(path: string, text: string): Promise<void> {
  const size = await stat(path).then(
    (info) => info.size,
    () => 0,
  );
  if (size >= LOG_MAX_BYTES) return;
  const full = size + text.length >= LOG_MAX_BYTES;
  await appendText(path, full ? `${text}[the log is full]\n` : text);
}

async function appendText(path: string, text: string): Promise<void> {
  try {
    await appendFile(path, text, { mode: 0o600 });
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
    const folder = dirname(path);
    if (!(await makeFolder(dirname(folder))) || !(await makeFolder(folder))) return;
    await appendFile(path, text, { mode: 0o600 });
  }
}

/** Creates no parents, so that a deleted data folder is not created again. Returns false if the parent is missing. */
async function makeFolder(path: string): Promise<boolean> {
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (error) {
    if (codeOf(error) === "ENOENT") return false;
    if (codeOf(error) !== "EEXIST") throw error;
  }
  return true;
}

const codeOf = (error: unknown): unknown => (error as NodeJS.ErrnoException).code;

const ESCAPE = String.fromCharCode(27);
const COLOURS = new RegExp(`${ESCAPE}\\[[0-9;?]*[ -/]*[@-~]`, "g");

/** Removes colours and control characters that move a terminal's cursor. */
function printable(text: string): string {
  if (!CONTROL.test(text)) return text;
  return [...text.replaceAll(COLOURS, "")].filter((char) => char === "\t" || !CONTROL.test(char)).join("");
}

const CONTROL = /\p{Cc}/u;
