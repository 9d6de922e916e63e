import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Sshd } from "../../infra/emulators/sshd.ts";
import type { StepRecord, TestServer } from "../../lib/testing/test-server.ts";

/** The engines that the suite has started. Throws outside of it. */
export function engines(): { readonly dockerHost: string; readonly image: string; readonly sshd: Sshd } {
  const { WEFT_TEST_DOCKER_HOST: dockerHost, WEFT_TEST_IMAGE: image, WEFT_TEST_SSHD: sshd } = process.env;
  if (dockerHost === undefined || image === undefined || sshd === undefined)
    throw new Error("the engines are started by infra/vitest.remote.config.ts");
  return { dockerHost, image, sshd: JSON.parse(sshd) as Sshd };
}

let made = 0;

/** Stores a workflow of the steps (YAML) and starts a run of it in a workspace of its own. */
export async function startSteps(
  weft: TestServer,
  steps: string,
  body: Readonly<Record<string, unknown>> = {},
) {
  made += 1;
  const name = `remote${made}`;
  await weft.storeWorkflow(`name: ${name}\nsteps:\n${steps}`);
  const runId = await weft.startRun({ module: name, workspace: name, ...body });
  return { runId, folder: join(weft.dataDir, "workspaces", name) };
}

/** Runs steps to their end. */
export async function runSteps(
  weft: TestServer,
  steps: string,
  body: Readonly<Record<string, unknown>> = {},
) {
  const { runId, folder } = await startSteps(weft, steps, body);
  const run = await weft.waitForRun(runId);
  const all: Readonly<Record<string, StepRecord>> = await weft.steps(runId);
  return { ...run, steps: all, folder };
}

/** Processes of this machine whose command line has the text in it. */
export async function processesWith(text: string): Promise<number[]> {
  const found: number[] = [];
  for (const entry of await readdir("/proc")) {
    if (!/^\d+$/.test(entry)) continue;
    const line = await readFile(join("/proc", entry, "cmdline"), "utf8").catch(() => "");
    if (line.split("\0").includes(text)) found.push(Number(entry));
  }
  return found;
}

let marks = 0;

/** Seconds that no other process sleeps for. */
export function uniqueSeconds(): string {
  marks += 1;
  return `${700 + marks}.${process.pid}`;
}
