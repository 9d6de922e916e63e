import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { installPackages, type RunProgram } from "./python.ts";

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "weft-python-"));
});
afterEach(() => rm(root, { recursive: true, force: true }));

/** Installs on a machine where commands that match `broken` fail; returns the commands and the pauses. */
async function install(broken: RegExp, failures = Number.POSITIVE_INFINITY) {
  const folder = join(root, "tools");
  const commands: string[] = [];
  const pauses: number[] = [];
  let failed = 0;
  const run: RunProgram = async (command, args) => {
    const line = [command, ...args].join(" ").replaceAll(root, "ROOT");
    commands.push(line);
    if (broken.test(line) && failed < failures) {
      failed += 1;
      await mkdir(folder, { recursive: true });
      await writeFile(join(folder, "half-made"), "");
      throw new Error(`${line}: broken`);
    }
    await mkdir(folder, { recursive: true });
  };
  const result = await installPackages({ folder, requirements: "requirements.txt" }, run, async (ms) => {
    pauses.push(ms);
  }).catch((error: unknown) => error as Error);
  return { commands, pauses, result };
}

const PIP = "-m pip install --quiet --disable-pip-version-check --no-input";
const INSTALL = `ROOT/tools/bin/python -I ${PIP} -r requirements.txt`;

describe("installPackages", () => {
  it("uses venv", async () => {
    const { commands, result } = await install(/never/);
    expect(result).toBeUndefined();
    expect(commands).toEqual(["python3 -I -m venv ROOT/tools", INSTALL]);
  });

  it("uses virtualenv if venv fails, installed by pip if it is missing", async () => {
    const { commands, result } = await install(/-m (?:venv|virtualenv)/);
    expect(result).toBeUndefined();
    expect(commands.slice(2)).toEqual([
      `python3 ${PIP} --target ROOT/tools.virtualenv virtualenv`,
      expect.stringMatching(/^python3 -c .*run_module.* ROOT\/tools\.virtualenv --quiet ROOT\/tools$/),
      INSTALL,
    ]);
    expect(await readdir(join(root, "tools"))).toEqual([]);
  });

  it("uses uv if Python has none of them", async () => {
    const { commands, result } = await install(/^python3/);
    expect(result).toBeUndefined();
    expect(commands.slice(-2)).toEqual(["uv venv --quiet --seed --python python3 ROOT/tools", INSTALL]);
  });

  it("says what is missing if all fail", async () => {
    const { result } = await install(/./);
    expect((result as Error).message).toMatch(/apt-get install python3-venv.*pip, virtualenv or uv/);
    expect((result as Error).message).toContain("python3 -I -m venv ROOT/tools: broken");
  });

  it("retries if the index does not respond, three attempts in all", async () => {
    const recovered = await install(/-r requirements/, 2);
    expect(recovered.result).toBeUndefined();
    expect(recovered.pauses).toEqual([5_000, 20_000]);

    const exhausted = await install(/-r requirements/);
    expect((exhausted.result as Error).message).toContain("-r requirements.txt: broken");
    expect(exhausted.commands.filter((line) => line === INSTALL)).toHaveLength(3);
  });
});
