import { execFile } from "node:child_process";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** Runs a program; throws if it is missing or fails, with the end of its output. */
export type RunProgram = (command: string, args: readonly string[]) => Promise<void>;

const TIMEOUT_MS = 10 * 60_000;
const OUTPUT_BYTES = 64 * 1024 * 1024;
const SHOWN_CHARACTERS = 4_000;
/** Delays before pip is called again, milliseconds: pip itself retries each request several times. */
const PAUSES_MS = [5_000, 20_000];

/** Runs virtualenv from the folder in the first argument. */
const RUN_FROM_FOLDER =
  "import runpy, sys; sys.path.insert(0, sys.argv.pop(1)); runpy.run_module('virtualenv', run_name='__main__')";
const PIP_INSTALL = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input"];

/** Ways to create an environment with pip, in order of preference. */
const ENVIRONMENT_CREATORS: readonly ((run: RunProgram, python: string, folder: string) => Promise<void>)[] =
  [
    (run, python, folder) => run(python, ["-I", "-m", "venv", folder]),
    (run, python, folder) => run(python, ["-m", "virtualenv", "--quiet", folder]),
    // Debian and Ubuntu package venv apart from Python; virtualenv has no dependencies, and pip can install it anywhere.
    async (run, python, folder) => {
      const beside = `${folder}.virtualenv`;
      try {
        await run(python, [...PIP_INSTALL, "--target", beside, "virtualenv"]);
        await run(python, ["-c", RUN_FROM_FOLDER, beside, "--quiet", folder]);
      } finally {
        await rm(beside, { recursive: true, force: true });
      }
    },
    (run, python, folder) => run("uv", ["venv", "--quiet", "--seed", "--python", python, folder]),
  ];

/**
 * Creates a virtual environment and installs requirements into it. Uses the first available of venv, virtualenv,
 * pip (which installs virtualenv) and uv; pip gets three attempts. Throws an Error that says what is missing or
 * what failed.
 */
export async function installPackages(
  options: { readonly folder: string; readonly requirements: string; readonly python?: string },
  run: RunProgram = runProgram,
  pause: (ms: number) => Promise<unknown> = sleep,
): Promise<void> {
  const { folder, requirements, python = "python3" } = options;
  await createEnvironment(run, python, folder);
  const install = ["-I", ...PIP_INSTALL, "-r", requirements];
  for (const ms of PAUSES_MS) {
    try {
      return await run(join(folder, "bin/python"), install);
    } catch {
      await pause(ms);
    }
  }
  await run(join(folder, "bin/python"), install);
}

async function createEnvironment(run: RunProgram, python: string, folder: string): Promise<void> {
  const failures: string[] = [];
  for (const make of ENVIRONMENT_CREATORS) {
    try {
      return await make(run, python, folder);
    } catch (error) {
      failures.push((error as Error).message);
      // A partial environment would block the next attempt.
      await rm(folder, { recursive: true, force: true });
    }
  }
  const needed = `${python} 3.10 or later with venv (Debian, Ubuntu: apt-get install python3-venv), pip, virtualenv or uv`;
  throw new Error(`cannot create a virtual environment; needs ${needed}:\n${failures.join("\n")}`);
}

function runProgram(command: string, args: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const limits = { timeout: TIMEOUT_MS, maxBuffer: OUTPUT_BYTES };
    execFile(command, args, limits, (error, stdout, stderr) => {
      if (error === null) return resolve();
      const output = `${stdout}${stderr}`.trim().slice(-SHOWN_CHARACTERS);
      const reason = error.code === "ENOENT" ? `${command} not found` : output || error.message;
      reject(new Error(`${[command, ...args].join(" ")}: ${reason}`, { cause: error }));
    });
  });
}
