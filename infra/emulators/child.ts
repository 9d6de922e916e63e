import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";

export interface Emulator {
  readonly url: string;
  /** Ends the process; resolves when it has exited. */
  stop(): Promise<void>;
}

const START_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 5_000;
const STDERR_CHARACTERS = 4_000;

/**
 * Starts a program that prints `listening PORT` and exits when its standard input closes, so that it cannot outlive
 * this process. Throws with the end of its output if it does not listen within a minute.
 */
export async function startEmulator(
  name: string,
  command: string,
  args: readonly string[],
  cwd: string,
): Promise<Emulator> {
  const child = spawn(command, args, { cwd, stdio: ["pipe", "pipe", "pipe"] });
  const exited = once(child, "close").catch(() => undefined);
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr = (stderr + text).slice(-STDERR_CHARACTERS);
  });
  const stop = async (): Promise<void> => {
    child.stdin.end();
    const timeout = new AbortController();
    const timedOut = sleep(STOP_TIMEOUT_MS, undefined, { signal: timeout.signal }).then(
      () => child.kill("SIGKILL"),
      () => false,
    );
    await exited;
    timeout.abort();
    await timedOut;
  };
  const listening = new Promise<number>((resolve, reject) => {
    createInterface({ input: child.stdout }).on("line", (line) => {
      const [, port] = /^listening (\d+)$/.exec(line) ?? [];
      if (port !== undefined) resolve(Number(port));
    });
    child.once("error", reject);
    child.once("close", (code) => reject(new Error(`exited with code ${code}`)));
    setTimeout(() => reject(new Error("did not listen within a minute")), START_TIMEOUT_MS).unref();
  });
  // A pipe error after the program dies: "close" reports it.
  child.stdin.on("error", () => undefined);
  try {
    return { url: `http://127.0.0.1:${await listening}`, stop };
  } catch (error) {
    if (child.pid !== undefined) await stop();
    throw new Error(`the emulator ${name} did not start: ${stderr.trim()}`, { cause: error });
  }
}
