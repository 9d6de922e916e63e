import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Sshd } from "../../infra/emulators/sshd.ts";
import type { StepRecord, TestServer } from "../../lib/testing/test-server.ts";

/** The Docker engine and ssh server that the suite started. Throws outside the suite. */
export function listEngines(): { readonly dockerHost: string; readonly image: string; readonly sshd: Sshd } {
  const { WEFT_TEST_DOCKER_HOST: dockerHost, WEFT_TEST_IMAGE: image, WEFT_TEST_SSHD: sshd } = process.env;
  if (dockerHost === undefined || image === undefined || sshd === undefined)
    throw new Error("the engines are started by infra/vitest.remote.config.ts");
  return { dockerHost, image, sshd: JSON.parse(sshd) as Sshd };
}

let count = 0;

/** Stores a workflow of the given steps (YAML) and starts a run in its own workspace. */
export async function startSteps(
  weft: TestServer,
  steps: string,
  body: Readonly<Record<string, unknown>> = {},
) {
  count += 1;
  const name = `remote${count}`;
  await weft.storeWorkflow(`name: ${name}\nsteps:\n${steps}`);
  const runId = await weft.startRun({ module: name, workspace: name, ...body });
  return { runId, folder: join(weft.dataDir, "workspaces", name) };
}

/** Runs a workflow of the given steps to its end. */
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

/** Ids of the processes that have `text` as an argument. */
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

/** A duration for `sleep` that identifies its process. */
export function uniqueSeconds(): string {
  marks += 1;
  return `${700 + marks}.${process.pid}`;
}
