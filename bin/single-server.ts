import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { CommandFailure, type Terminal } from "./command.ts";
import { printable, type Server } from "./connection.ts";

const MAIN = fileURLToPath(new URL("./main.ts", import.meta.url));
const READY_MAX_MS = 60_000;
/** The server gives up its own stop before this. */
const STOP_MAX_MS = 30_000;
const LOG_CHARS_KEPT = 16_384;

/** A server for one run. */
export interface SingleServer extends Server {
  /** Asks it to stop, waits for it, and removes a data folder that was made for it. */
  stop(): Promise<void>;
  /** The same at once, for a process that leaves. */
  kill(): void;
}

/**
 * Starts a server of its own process on a free port of this machine, in the folder given or in a temporary one. No
 * schedule fires in it and no event triggers a workflow: it is there for one run. Throws CommandFailure.
 */
export async function startSingleServer(env: Terminal["env"], dataDir?: string): Promise<SingleServer> {
  const folder = dataDir ?? mkdtempSync(join(tmpdir(), "weft-run-"));
  const removed = (): void => {
    if (dataDir === undefined) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  // Of a group of its own: an interrupt of the terminal is the command's to answer. The channel ends it with us.
  const child = spawn(process.execPath, [MAIN, "start"], {
    detached: true,
    stdio: ["ignore", "pipe", "pipe", "ipc"],
    env: {
      ...env,
      ...{
        PORT: "0",
        HOST: "127.0.0.1",
        WEFT_DATA_DIR: folder,
        WEFT_ACCESS_TOKEN: "",
        WEFT_HANDED_OVER: "1",
      },
      ...{ WEFT_PLATFORM: "embedded", WEFT_WORKER: "true" },
      ...{ SCHEDULER_ENABLED: "false", EVENT_RECEIVER_ENABLED: "false" },
    },
  });
  const closed = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const kill = (): void => {
    child.kill("SIGKILL");
    removed();
  };
  try {
    const url = await readyUrl(child);
    const source = join(folder, "access-token");
    return {
      url,
      source,
      token: readFileSync(source, "utf8").trim(),
      kill,
      stop: async () => {
        const late = setTimeout(() => child.kill("SIGKILL"), STOP_MAX_MS);
        child.kill("SIGTERM");
        await closed;
        clearTimeout(late);
        removed();
      },
    };
  } catch (error) {
    child.kill("SIGKILL");
    await closed;
    removed();
    throw error;
  }
}

/** The URL in the line that a server prints when it is ready. */
function readyUrl(child: ChildProcess): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let out = "";
  let log = "";
  const failed = (why: string): void => {
    const reason = /^weft: (.*)$/m.exec(log)?.[1] ?? log.trim().split("\n").at(-1) ?? "";
    reject(new CommandFailure(`No server could be started for this run: ${printable(reason) || why}`));
  };
  const late = setTimeout(() => failed(`it is not ready after ${READY_MAX_MS / 1000} s`), READY_MAX_MS);
  child.once("error", (error) => failed(error.message));
  child.once("close", () => {
    clearTimeout(late);
    failed("it ended");
  });
  child.stderr?.on("data", (chunk: Buffer) => {
    log = (log + chunk.toString()).slice(-LOG_CHARS_KEPT);
  });
  child.stdout?.on("data", (chunk: Buffer) => {
    out = (out + chunk.toString()).slice(-LOG_CHARS_KEPT);
    const url = /^weft ready .*\bautomation=(\S+)\/automation\b/m.exec(out)?.[1];
    if (url === undefined) return;
    clearTimeout(late);
    resolve(url);
  });
  return promise;
}
