import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ServerAddress } from "./connection.ts";
import { CommandFailure } from "./errors.ts";
import { printable, terminal } from "./terminal.ts";

const WEFT = fileURLToPath(new URL("./weft.js", import.meta.url));
const READY_MAX_MS = 60_000;
/** Longer than the server's own limit for an orderly shutdown. */
const STOP_MAX_MS = 30_000;
const OUTPUT_CHARS_MAX = 16_384;

/** A server that executes one run. */
export interface TemporaryServer extends ServerAddress {
  /** Stops the server, waits for it to exit, and removes its temporary data folder. */
  stop(): Promise<void>;
  /** Does the same immediately, before this process exits. */
  kill(): void;
}

/**
 * Starts a server in a child process, on a free port of 127.0.0.1, with the given data folder or a temporary one.
 * Schedules do not fire and events do not trigger workflows in it. Throws CommandFailure if it does not start.
 */
export async function startTemporaryServer(dataDir?: string): Promise<TemporaryServer> {
  const folder = dataDir ?? mkdtempSync(join(tmpdir(), "weft-run-"));
  const removeFolder = (): void => {
    if (dataDir === undefined) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  // Detached, so that Ctrl-C in the terminal does not reach it. It stops when the IPC channel closes.
  const child = spawn(process.execPath, [WEFT, "start"], {
    detached: true,
    stdio: ["ignore", "pipe", "pipe", "ipc"],
    env: {
      ...terminal.env,
      PORT: "0",
      HOST: "127.0.0.1",
      WEFT_DATA_DIR: folder,
      WEFT_ACCESS_TOKEN: "",
      WEFT_HANDED_OVER: "1",
      WEFT_PLATFORM: "embedded",
      WEFT_WORKER: "true",
      SCHEDULER_ENABLED: "false",
      EVENT_RECEIVER_ENABLED: "false",
    },
  });
  const closed = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const kill = (): void => {
    child.kill("SIGKILL");
    removeFolder();
  };
  try {
    const url = await waitForUrl(child);
    const source = join(folder, "access-token");
    return {
      url,
      source,
      token: readFileSync(source, "utf8").trim(),
      kill,
      stop: async () => {
        const timeout = setTimeout(() => child.kill("SIGKILL"), STOP_MAX_MS);
        child.kill("SIGTERM");
        await closed;
        clearTimeout(timeout);
        removeFolder();
      },
    };
  } catch (error) {
    child.kill("SIGKILL");
    await closed;
    removeFolder();
    throw error;
  }
}

/** Waits for the line that a server prints when it is ready, and returns its URL. */
function waitForUrl(child: ChildProcess): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let out = "";
  let log = "";
  const fail = (otherwise: string): void => {
    const reason = /^weft: (.*)$/m.exec(log)?.[1] ?? log.trim().split("\n").at(-1) ?? "";
    reject(new CommandFailure(`The server for this run did not start: ${printable(reason) || otherwise}`));
  };
  const timeout = setTimeout(() => fail(`it was not ready after ${READY_MAX_MS / 1000} s`), READY_MAX_MS);
  child.once("error", (error) => fail(error.message));
  child.once("close", () => {
    clearTimeout(timeout);
    fail("it exited");
  });
  child.stderr?.on("data", (chunk: Buffer) => {
    log = (log + chunk.toString()).slice(-OUTPUT_CHARS_MAX);
  });
  child.stdout?.on("data", (chunk: Buffer) => {
    out = (out + chunk.toString()).slice(-OUTPUT_CHARS_MAX);
    const url = /^weft ready .*\bautomation=(\S+)\/automation\b/m.exec(out)?.[1];
    if (url === undefined) return;
    clearTimeout(timeout);
    resolve(url);
  });
  return promise;
}
