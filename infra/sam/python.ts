import { execFile } from "node:child_process";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** Runs a program; throws where it is not there or does not end well, with the end of what it wrote. */
export type RunProgram = (command: string, args: readonly string[]) => Promise<void>;

const TIMEOUT_MS = 10 * 60_000;
const OUTPUT_BYTES = 64 * 1024 * 1024;
const SHOWN_CHARACTERS = 4_000;
/** Before pip is called once more, milliseconds: it has tried each request several times by itself. */
const PAUSES_MS = [5_000, 20_000];

/** Runs the virtualenv that lies in the folder named first. */
const RUN_BESIDE =
  "import runpy, sys; sys.path.insert(0, sys.argv.pop(1)); runpy.run_module('virtualenv', run_name='__main__')";
const PIP_INSTALL = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input"];

/** What can make an environment that has pip, the usual first. */
const MAKERS: readonly ((run: RunProgram, python: string, folder: string) => Promise<void>)[] = [
  (run, python, folder) => run(python, ["-I", "-m", "venv", folder]),
  (run, python, folder) => run(python, ["-m", "virtualenv", "--quiet", folder]),
  // Debian and Ubuntu part venv from Python; virtualenv brings all that it needs, and pip may put it beside.
  async (run, python, folder) => {
    const beside = `${folder}.virtualenv`;
    try {
      await run(python, [...PIP_INSTALL, "--target", beside, "virtualenv"]);
      await run(python, ["-c", RUN_BESIDE, beside, "--quiet", folder]);
    } finally {
      await rm(beside, { recursive: true, force: true });
    }
  },
  (run, python, folder) => run("uv", ["venv", "--quiet", "--seed", "--python", python, folder]),
];

/**
 * Makes a virtual environment and installs a list of requirements into it. Takes the first that there is of venv,
 * virtualenv, pip (which fetches virtualenv) and uv; calls pip three times before it gives up. Throws Error that
 * says what is missing or what failed.
 */
export async function installPackages(
  options: { readonly folder: string; readonly requirements: string; readonly python?: string },
  run: RunProgram = runProgram,
  pause: (ms: number) => Promise<unknown> = sleep,
): Promise<void> {
  const { folder, requirements, python = "python3" } = options;
  await makeEnvironment(run, python, folder);
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

async function makeEnvironment(run: RunProgram, python: string, folder: string): Promise<void> {
  const failures: string[] = [];
  for (const make of MAKERS) {
    try {
      return await make(run, python, folder);
    } catch (error) {
      failures.push((error as Error).message);
      // What a maker has begun is in the way of the next one.
      await rm(folder, { recursive: true, force: true });
    }
  }
  const needed = `${python} of 3.10 or more with venv (Debian, Ubuntu: apt-get install python3-venv), pip, virtualenv or uv`;
  throw new Error(`no virtual environment can be made; what is needed is ${needed}:\n${failures.join("\n")}`);
}

function runProgram(command: string, args: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const limits = { timeout: TIMEOUT_MS, maxBuffer: OUTPUT_BYTES };
    execFile(command, args, limits, (error, stdout, stderr) => {
      if (error === null) return resolve();
      const output = `${stdout}${stderr}`.trim().slice(-SHOWN_CHARACTERS);
      const reason = error.code === "ENOENT" ? `${command} is not there` : output || error.message;
      reject(new Error(`${[command, ...args].join(" ")}: ${reason}`, { cause: error }));
    });
  });
}
