import { execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { NotInstalledError } from "./peer.ts";

const INSTALL_MAX_MS = 5 * 60 * 1000;
const OUTPUT_MAX_BYTES = 64 * 1024 * 1024;
const run = promisify(execFile);

/** Installs packages of npm into a folder unless they are there. Returns the version of the first. */
export async function installFromNpm(folder: string, packages: readonly string[]): Promise<string> {
  const [first = ""] = packages;
  const manifest = join(folder, "node_modules", first, "package.json");
  const complete = join(folder, "complete");
  if (!existsSync(complete) || readFileSync(complete, "utf8") !== packages.join(" ")) {
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, "package.json"), '{ "private": true }');
    await succeed("npm", ["install", "--no-audit", "--no-fund", "--prefix", folder, ...packages]);
    await writeFile(complete, packages.join(" "));
  }
  return (JSON.parse(readFileSync(manifest, "utf8")) as { version: string }).version;
}

/** Unpacks packages of Debian, without installing them, into a folder unless they are there. */
export async function unpackFromDebian(folder: string, packages: readonly string[]): Promise<void> {
  if (existsSync(join(folder, "complete"))) return;
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await succeed("apt-get", ["download", ...packages], folder);
  for (const file of readdirSync(folder).filter((name) => name.endsWith(".deb")))
    await succeed("dpkg-deb", ["-x", file, "."], folder);
  await writeFile(join(folder, "complete"), "");
}

/** Throws NotInstalledError with the reason. */
export async function succeed(program: string, args: readonly string[], cwd?: string): Promise<string> {
  try {
    const { stdout } = await run(program, [...args], {
      ...(cwd === undefined ? {} : { cwd }),
      timeout: INSTALL_MAX_MS,
      maxBuffer: OUTPUT_MAX_BYTES,
    });
    return stdout;
  } catch (error) {
    const failure = error as Error & { killed?: boolean; stderr?: string };
    console.error(failure.stderr ?? failure.message);
    throw new NotInstalledError(reasonOf(program, failure));
  }
}

/** A reason without paths and addresses of this machine. */
function reasonOf(program: string, error: { killed?: boolean; stderr?: string; message: string }): string {
  if (error.killed === true) return `${program} took more than ${INSTALL_MAX_MS / 60_000} minutes`;
  const text = `${error.stderr ?? ""}\n${error.message}`;
  const host =
    /(?:ENOTFOUND|ECONNREFUSED|ETIMEDOUT|EAI_AGAIN) ([a-z0-9.-]+)/.exec(text)?.[1] ??
    /failed to download .* \(https?:\/\/([^/]+)/.exec(text)?.[1];
  if (host !== undefined) return `its installation downloads from ${host}, which cannot be reached`;
  const [, code] = /npm error code (E\w+)/.exec(text) ?? [];
  return `${basename(program)} failed${code === undefined ? "" : ` with ${code}`}`;
}
