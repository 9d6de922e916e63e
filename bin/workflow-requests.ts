import { type Connection, ErrorResponse } from "./connection.ts";
import { CommandFailure } from "./errors.ts";
import { readData } from "./responses.ts";
import type { WorkflowFile } from "./workflow-files.ts";

export const WORKFLOWS = "/automation/workflows";

/** A workflow in the server's list. */
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

/** Reads a stored workflow. Throws CommandFailure, with a similar name, if there is none. */
export async function readWorkflow<Workflow extends { name: string; kind: string }>(
  connection: Connection,
  name: string,
): Promise<Workflow> {
  try {
    return await readData<Workflow>(connection, `${WORKFLOWS}/${encodeURIComponent(name)}`);
  } catch (error) {
    if (!(error instanceof ErrorResponse) || error.status !== 404) throw error;
    const similar = / Did you mean .*$/.exec(error.reason)?.[0] ?? "";
    throw new CommandFailure(
      `There is no workflow '${name}'.${similar}`,
      "`weft workflows` lists the stored workflows.",
    );
  }
}

/** Stores the workflow of a file. Throws CommandFailure, with the file's path, if it is not valid. */
export async function saveFile(connection: Connection, { path, text }: WorkflowFile): Promise<SavedWorkflow> {
  try {
    const options = { body: text, type: "application/yaml" };
    return (await connection.request("POST", WORKFLOWS, options)) as SavedWorkflow;
  } catch (error) {
    if (!(error instanceof ErrorResponse) || error.status !== 400) throw error;
    throw new CommandFailure(`${path}: ${error.reason}`, "`weft validate` lists all errors of a file.");
  }
}
