import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { connect } from "node:net";
import { delimiter, join } from "node:path";
import { waitUntil } from "../../lib/testing/test-server.ts";
import { addCleanup } from "../harness/cleanup.ts";
import { succeed, unpackFromDebian } from "./installation.ts";

const PACKAGES = ["redis-server", "redis-tools", "libjemalloc2", "liblzf1"];

/** Uses the machine's Redis, or the one of Debian. Returns its version. Throws NotInstalledError. */
export async function installRedis(folder: string): Promise<string> {
  if (installedRedis() === undefined) await unpackFromDebian(folder, PACKAGES);
  const { program, env } = redisIn(folder);
  const text = await succeed("env", [
    ...Object.entries(env).map(([k, v]) => `${k}=${v}`),
    program,
    "--version",
  ]);
  return /v=([\d.]+)/.exec(text)?.[1] ?? "unknown";
}

function installedRedis(): string | undefined {
  const folders = (process.env.PATH ?? "").split(delimiter);
  return folders.map((folder) => join(folder, "redis-server")).find((path) => existsSync(path));
}

function redisIn(folder: string): { program: string; env: Record<string, string> } {
  const program = installedRedis();
  if (program !== undefined) return { program, env: {} };
  const architecture = { x64: "x86_64", arm64: "aarch64" }[process.arch as string] ?? process.arch;
  const libraries = join(folder, "usr/lib", `${architecture}-linux-gnu`);
  return { program: join(folder, "usr/bin/redis-server"), env: { LD_LIBRARY_PATH: libraries } };
}

export interface Redis {
  readonly path: string;
  kill(): Promise<void>;
  start(): Promise<void>;
}

/** Starts Redis on a socket in `data`, which contains its store. */
export async function startRedis(folder: string, data: string, options: readonly string[]): Promise<Redis> {
  await mkdir(data, { recursive: true });
  const path = join(data, "redis.sock");
  const { program, env } = redisIn(folder);
  let child: ChildProcess;
  const start = async (): Promise<void> => {
    const args = ["--port", "0", "--unixsocket", path, "--dir", data, "--maxmemory-policy", "noeviction"];
    child = spawn(program, [...args, ...options], { env: { ...process.env, ...env }, stdio: "ignore" });
    await waitUntil("Redis", () => isReady(path));
  };
  addCleanup(() => child.kill("SIGKILL"));
  await start();
  return { path, start, kill: () => killed(child) };
}

/** Sends a PING: after a restart, Redis accepts connections before it has read its store. */
function isReady(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    const end = (isUp: boolean): void => {
      socket.destroy();
      resolve(isUp);
    };
    socket.once("error", () => end(false));
    socket.once("data", (bytes) => end(bytes.toString().startsWith("+PONG")));
    socket.write("PING\r\n");
  });
}

export async function killed(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGKILL");
  await exited;
}
