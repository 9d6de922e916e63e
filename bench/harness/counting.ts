import { spawn } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { waitUntil } from "../../lib/testing/test-server.ts";
import { addCleanup, createTemporaryFolder } from "./cleanup.ts";
import { untilQuiet } from "./processes.ts";
import { type Server, startServer } from "./server.ts";
import { startCommand } from "./start.ts";

const PRELOAD = fileURLToPath(new URL("./count-preload.ts", import.meta.url));
const QUIET_MAX_MS = 120_000;

/** Counts by kind: SQL statements by verb, JSON calls, and system calls by name if strace is installed. */
export type Counts = Readonly<Record<string, number>>;

export interface CountingServer extends Server {
  /** Counts from the start of `work` until the server is idle; the counts of an idle server are small. */
  countOf(work: () => Promise<unknown>): Promise<Counts>;
  /**
   * System calls of the server and its threads by name, without those of child processes; empty without strace.
   */
  systemCallsOf(work: () => Promise<unknown>): Promise<Counts>;
}

/** Starts a server that counts its work, which makes it slower. */
export async function startCountingServer(): Promise<CountingServer> {
  const file = join(createTemporaryFolder("counts"), "counts.json");
  const [program = "", ...args] = startCommand();
  const server = await startServer({
    program: [program, "--import", PRELOAD, ...args],
    env: { WEFT_BENCH_COUNTS: file },
  });
  const look = async (): Promise<Counts> => {
    rmSync(file, { force: true });
    process.kill(server.pid, "SIGUSR2");
    return waitUntil("the counts", () => counted(file));
  };
  return {
    ...server,
    countOf: async (work) => {
      await untilQuiet(server.pid, QUIET_MAX_MS);
      const before = await look();
      await work();
      await untilQuiet(server.pid, QUIET_MAX_MS);
      const after = await look();
      return Object.fromEntries(
        Object.entries(after).map(([name, all]) => [name, all - (before[name] ?? 0)]),
      );
    },
    systemCallsOf: async (work) => {
      await untilQuiet(server.pid, QUIET_MAX_MS);
      return traced(server.pid, work);
    },
  };
}

function counted(file: string): Counts | undefined {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as Counts;
  } catch {
    return undefined;
  }
}

async function traced(pid: number, work: () => Promise<unknown>): Promise<Counts> {
  const tracer = spawn("strace", ["-f", "-b", "execve", "-c", "-U", "calls,name", "-p", `${pid}`], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  addCleanup(() => tracer.kill("SIGINT"));
  let text = "";
  tracer.stderr.on("data", (chunk: Buffer) => {
    text += chunk.toString();
  });
  const ended = new Promise<void>((resolve) => {
    tracer.once("close", () => resolve());
    tracer.once("error", () => resolve());
  });
  await Promise.race([waitUntil("strace", () => text.includes("attached")), ended]);
  if (!text.includes("attached")) return {};
  await work();
  await untilQuiet(pid, QUIET_MAX_MS);
  tracer.kill("SIGINT");
  await ended;
  const lines = [...text.matchAll(/^ *(\d+) +(\w+)$/gm)].filter(([, , name]) => name !== "total");
  return Object.fromEntries(lines.map(([, calls, name = ""]) => [name, Number(calls)]));
}
