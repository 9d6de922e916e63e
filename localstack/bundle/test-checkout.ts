import { type ChildProcess, spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const FOLDERS = ["bin", "examples", "functions", "infra", "lib", "localstack"];
const FILES = ["package.json", "tsconfig.json", "template.yaml", "openapi.json"];

/** A copy of this checkout with the packages of this one and a cache of its own; gone at the end. */
export function copyOfCheckout(): { readonly root: string; remove(): void } {
  const root = mkdtempSync(join(tmpdir(), "weft-bundle-"));
  for (const path of [...FOLDERS, ...FILES])
    cpSync(join(ROOT, path), join(root, path), {
      recursive: true,
      preserveTimestamps: true,
      filter: (source) => !source.endsWith(".test.ts"),
    });
  mkdirSync(join(root, "node_modules"));
  for (const name of readdirSync(join(ROOT, "node_modules")))
    if (name !== ".cache") symlinkSync(join(ROOT, "node_modules", name), join(root, "node_modules", name));
  return { root, remove: () => rmSync(root, { recursive: true, force: true, maxRetries: 3 }) };
}

export interface Started {
  readonly child: ChildProcess;
  /** What `/health` answers. */
  readonly health: string;
  /** Its log so far. */
  log(): string;
  stop(): Promise<void>;
}

/** Starts the copy as `npm start` does, on a data folder inside of it. Rejects where it does not start. */
export async function startCopy(
  root: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<Started> {
  const env = {
    ...process.env,
    PORT: "0",
    WEFT_DATA_DIR: mkdtempSync(join(root, "data-")),
    WEFT_ACCESS_TOKEN: "",
    ...settings,
  };
  const child = spawn(process.execPath, [join(root, "localstack/main.js")], {
    cwd: root,
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const { url, log, stop } = await untilReady(child);
  return { child, log, stop, health: await (await fetch(url)).text() };
}

/** Waits until a server says where it is, and answers the address of its health. Rejects where it ends before. */
export async function untilReady(
  child: ChildProcess,
): Promise<Pick<Started, "log" | "stop"> & { readonly url: string }> {
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  let log = "";
  child.stderr?.on("data", (chunk: Buffer) => {
    log += chunk.toString();
  });
  const url = await new Promise<string>((resolve, reject) => {
    let out = "";
    child.stdout?.on("data", (chunk: Buffer) => {
      out += chunk.toString();
      const found = / health=(\S+)/.exec(out)?.[1];
      if (found !== undefined) resolve(found);
    });
    child.once("close", () => reject(new Error(`it did not start: ${log}`)));
  });
  const stop = (): Promise<void> => {
    child.kill("SIGTERM");
    return ended;
  };
  return { url, log: () => log, stop };
}
