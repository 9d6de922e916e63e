import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, symlink } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { readServerFile } from "../../localstack/server-file.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** Shell line that waits until the server at `$PORT` is up; an earlier one that is stopping has removed its file. */
export const WAIT_FOR_SERVER =
  'until [ -e "$WEFT_DATA_DIR/server.json" ] && curl -fs "http://127.0.0.1:$PORT/health" > health.json; do sleep 0.1; done\n';

/** Links everything that a clone contains into a folder. */
export async function linkClone(folder: string): Promise<void> {
  for (const name of await readdir(ROOT)) {
    if (!name.startsWith(".")) await symlink(join(ROOT, name), join(folder, name));
  }
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}

/** Runs a pasted script with bash in `folder`, then stops the server that it left running. */
export async function pasteCommands(
  script: string,
  env: Readonly<Record<string, string>> & { readonly PORT: string; readonly WEFT_DATA_DIR: string },
  { folder, mostMs }: { readonly folder: string; readonly mostMs: number },
): Promise<{ readonly code: number | null; readonly out: string }> {
  const child = spawn("bash", ["-c", script], {
    cwd: folder,
    env: { PATH: process.env.PATH ?? "", HOME: folder, npm_config_offline: "true", ...env },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  let out = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk: Buffer) => {
      out += chunk.toString();
    });
  }
  const timer = setTimeout(() => process.kill(-(child.pid ?? 0), "SIGKILL"), mostMs);
  const closed = once(child, "close");
  const [code] = (await once(child, "exit")) as [number | null];
  clearTimeout(timer);
  const running = readServerFile(env.WEFT_DATA_DIR);
  if (running !== undefined) process.kill(running.pid, "SIGTERM");
  // The server keeps the script's output open until it stops.
  await closed;
  return { code, out };
}
