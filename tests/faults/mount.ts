import { type ChildProcess, execFile, spawn } from "node:child_process";
import { mkdtemp, rmdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { waitUntil } from "../../lib/testing/test-server.ts";

const SERVER = fileURLToPath(new URL("../../localstack/server.ts", import.meta.url));

/** A file system in a private mount namespace. */
export interface PrivateMount extends AsyncDisposable {
  /** Path of the mount point, valid only inside the namespace. */
  readonly path: string;
  /** Command that starts a server inside the namespace. */
  readonly server: readonly string[];
  /** Runs a shell command inside the namespace, with the mount point as `$0`. Returns its standard output. */
  sh(command: string): Promise<string>;
}

/** Mounts a tmpfs of the given size (`4m`). Requires root or user namespaces. */
export async function mountPrivate(size: string): Promise<PrivateMount> {
  const path = await mkdtemp(join(tmpdir(), "weft-mount-"));
  const unshare = process.getuid?.() === 0 ? ["-m"] : ["-r", "-m"];
  const script = `mount -t tmpfs -o size=${size} weft "$0" && echo mounted && exec sleep infinity`;
  const holder: ChildProcess = spawn("unshare", [...unshare, "sh", "-c", script, path], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  holder.stdout?.on("data", (chunk: Buffer) => {
    output += chunk.toString();
  });
  holder.stderr?.on("data", (chunk: Buffer) => {
    output += chunk.toString();
  });
  const ended = new Promise((resolve) => holder.once("close", resolve));
  await waitUntil("the mount", () => output.includes("mounted") || holder.exitCode !== null);
  if (!output.includes("mounted")) throw new Error(`no private mount: ${output}`);
  const target = [
    "-t",
    String(holder.pid),
    "-m",
    ...(process.getuid?.() === 0 ? [] : ["-U", "--preserve-credentials"]),
  ];
  return {
    path,
    server: ["nsenter", ...target, "--", process.execPath, SERVER],
    sh: async (command) =>
      (await promisify(execFile)("nsenter", [...target, "--", "sh", "-ec", command, path])).stdout,
    [Symbol.asyncDispose]: async () => {
      holder.kill("SIGKILL");
      await ended;
      await rmdir(path);
    },
  };
}
