/** Snapshot functions of scripts, if the process that executes the step has the records and the workspaces. */
import { randomUUID } from "node:crypto";
import { createWriteStream } from "node:fs";
import { lstat, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { StepFailedError } from "../engine/step-failure.ts";
import { textOf } from "../script-library/argument-values.ts";
import { outputOf, pathOf } from "../script-library/file-access.ts";
import type { Attempt, Snapshots } from "./context.ts";

type Input = Readonly<Record<string, unknown>>;

/** Returns the name of the new workspace, or the path of the new file. Rejects with the message for the script. */
export async function handleSnapshotCall(
  attempt: Attempt,
  given: Input,
  signal: AbortSignal,
): Promise<string> {
  const { snapshots } = attempt.deps;
  if (snapshots === undefined)
    throw new StepFailedError(
      "snapshots are only available on the server: use POST /snapshots/export and /import",
    );
  return given.of === "export"
    ? exportTo(attempt, snapshots, given, signal)
    : importFrom(attempt, snapshots, given);
}

/** The paths that functions of the step may access, checked here as well: the caller is a process with user code. */
function reachOf({ workspace, deps: { paths } }: Attempt) {
  return { cwd: workspace, folders: [paths.workspacesDir, ...(paths.functionFolders ?? [])] };
}

/** Writes the file completely or not at all. */
async function exportTo(
  attempt: Attempt,
  snapshots: Snapshots,
  { workspace, dest }: Input,
  signal: AbortSignal,
): Promise<string> {
  const target = textOf(dest) === "" ? undefined : outputOf(dest, reachOf(attempt));
  const { name, content } = await snapshots.export(textOf(workspace) || attempt.run.workspace);
  if (target === undefined) return name;
  const draft = join(dirname(target), `.${randomUUID()}.zip.part`);
  try {
    await pipeline(content, createWriteStream(draft, { flags: "wx" }), { signal });
    await rename(draft, target);
  } finally {
    await rm(draft, { force: true });
  }
  return target;
}

async function importFrom(attempt: Attempt, snapshots: Snapshots, { file, name }: Input): Promise<string> {
  const { run_id, workflow_name, workspace, hop } = attempt.run;
  const by = { workspace, cause: { run_id, workflow_name, hop: hop + 1 } };
  if (textOf(file) === "") return snapshots.import({ name: textOf(name) }, by);
  const path = pathOf(file, reachOf(attempt));
  if (!(await lstat(path)).isFile()) throw new StepFailedError("the snapshot is not a file");
  return snapshots.import({ file: path }, by);
}
