import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { addCleanup } from "./cleanup.ts";
import { RawConnection, rawRequest } from "./raw-http.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const ASK_EVERY_MS = 1;
const START_MAX_MS = 120_000;
/** The access token, set in the environment, so that clients need not wait for the token file. */
export const BENCH_TOKEN = "benchmarks-and-nothing-else";

/** The command of `npm start`: the program and its arguments. */
export function startCommand(): string[] {
  const { scripts } = JSON.parse(readFileSync(`${ROOT}package.json`, "utf8")) as {
    scripts: { start: string };
  };
  const [exec, program, ...args] = scripts.start.split(" ");
  if (exec !== "exec" || program !== "node")
    throw new Error(`npm start runs ${scripts.start}: the benchmarks do not know how`);
  return [
    process.execPath,
    ...args.map((arg) => (arg.endsWith(".ts") || arg.endsWith(".js") ? ROOT + arg : arg)),
  ];
}

export interface StartedServer {
  readonly port: number;
  readonly pid: number;
  /** Time from the spawn to the first 200 for the path, milliseconds. */
  readonly ms: number;
  stop(signal: "SIGTERM" | "SIGKILL"): Promise<void>;
}

/** Starts the server on a data folder and requests `path` until the status is 200. */
export async function startTimed(dataDir: string, path: string): Promise<StartedServer> {
  const port = await freePort();
  const [program = "", ...args] = startCommand();
  const env = { ...process.env, PORT: `${port}`, WEFT_DATA_DIR: dataDir, WEFT_ACCESS_TOKEN: BENCH_TOKEN };
  const spawnedAt = performance.now();
  const child = spawn(program, args, { env, stdio: ["ignore", "ignore", "pipe"] });
  addCleanup(() => child.kill("SIGKILL"));
  const closed = new Promise<void>((resolve) => child.once("close", () => resolve()));
  await untilAnswered(child, port, path, spawnedAt + START_MAX_MS);
  return {
    port,
    pid: child.pid ?? 0,
    ms: performance.now() - spawnedAt,
    stop: (signal) => {
      child.kill(signal);
      return closed;
    },
  };
}

async function untilAnswered(child: ChildProcess, port: number, path: string, end: number): Promise<void> {
  let log = "";
  child.stderr?.on("data", (chunk: Buffer) => {
    log += chunk.toString();
  });
  const request = rawRequest("GET", path, { token: BENCH_TOKEN });
  for (;;) {
    if (child.exitCode !== null || performance.now() > end)
      throw new Error(`the server did not start: ${log}`);
    const status = await statusOf(port, request).catch(() => 0);
    if (status === 200) return;
    await sleep(ASK_EVERY_MS);
  }
}

async function statusOf(port: number, request: string): Promise<number> {
  const connection = await RawConnection.open(port);
  try {
    return (await connection.send(request)).status;
  } finally {
    connection.close();
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}

/** Wall time of a program from its spawn to its exit, milliseconds. */
export function spawnMs(program: string, args: readonly string[]): Promise<number> {
  const spawnedAt = performance.now();
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: "ignore" });
    child.once("error", reject);
    child.once("close", () => resolve(performance.now() - spawnedAt));
  });
}
