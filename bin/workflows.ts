import { CommandFailure } from "./command.ts";
import { type Connection, Refused } from "./connection.ts";
import { readData } from "./pages.ts";
import type { WorkflowFile } from "./workflow-files.ts";

export const WORKFLOWS = "/automation/workflows";

/** What the server tells of a workflow in its list. */
export interface WorkflowRecord {
  readonly name: string;
  readonly kind: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly revision: number;
  readonly step_count: number;
  readonly module_count: number;
  readonly trigger_count: number;
  readonly updated_at: string;
}

export interface SavedWorkflow {
  readonly name: string;
  readonly kind: string;
  readonly revision: number;
  readonly warnings: readonly string[];
}

/** A stored workflow, by name. Throws CommandFailure, with names that are near. */
export async function readWorkflow<Record extends { name: string; kind: string }>(
  connection: Connection,
  name: string,
): Promise<Record> {
  try {
    return await readData<Record>(connection, `${WORKFLOWS}/${encodeURIComponent(name)}`);
  } catch (error) {
    if (!(error instanceof Refused) || error.status !== 404) throw error;
    const meant = / Did you mean .*$/.exec(error.reason)?.[0] ?? "";
    throw new CommandFailure(
      `There is no workflow '${name}'.${meant}`,
      "`weft workflows` lists those that there are.",
    );
  }
}

/** Stores a file's workflow. Throws CommandFailure with the file and what is wrong in it. */
export async function saveFile(connection: Connection, { path, text }: WorkflowFile): Promise<SavedWorkflow> {
  try {
    const options = { body: text, type: "application/yaml" };
    return (await connection.request("POST", WORKFLOWS, options)) as SavedWorkflow;
  } catch (error) {
    if (!(error instanceof Refused) || error.status !== 400) throw error;
    throw new CommandFailure(
      `${path}: ${error.reason}`,
      "`weft validate` tells all that is wrong in a file.",
    );
  }
}
