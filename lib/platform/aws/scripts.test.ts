import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { ScriptRequest } from "../scripts.ts";
import { bundledScripts } from "./scripts.ts";

const REQUEST: ScriptRequest = {
  code: "1 + 1",
  variables: {},
  cwd: "/",
  env: {},
  timeoutMs: 1000,
  isolate: "run",
  token: "step",
};
const OUTCOME = { ok: true, value: 2, events: [], logs: [] };

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "weft-aws-scripts-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const scriptsIn = (path: string) => {
  const url = pathToFileURL(`${path}/`);
  return bundledScripts({ folder: url, functionsModule: new URL("library.mjs", url) });
};

it("rejects if the script engine is missing beside the bundle", async () => {
  await expect(scriptsIn(folder).run(REQUEST)).rejects.toMatchObject({
    name: "PlatformFault",
    code: "command_not_started",
    message: expect.stringContaining("scripts-pool.mjs"),
  });
});

it("opens the engine once, with the first script, and again after a failure", async () => {
  // Fails at its first opening and counts the openings.
  await writeFile(
    join(folder, "scripts-pool.mjs"),
    `let opened = 0;
     export async function openScripts({ folder, functionsModule }) {
       opened += 1;
       if (opened === 1) throw new Error("not yet");
       const logs = [opened, folder.href, functionsModule.href];
       return { run: async () => ({ ...${JSON.stringify(OUTCOME)}, logs }) };
     }`,
  );
  const scripts = scriptsIn(folder);
  await expect(scripts.run(REQUEST)).rejects.toMatchObject({ code: "command_not_started" });

  const { href } = pathToFileURL(`${folder}/`);
  const logs = [2, href, `${href}library.mjs`];
  expect(await scripts.run(REQUEST)).toEqual({ ...OUTCOME, logs });
  expect(await scripts.run(REQUEST)).toEqual({ ...OUTCOME, logs });
});
