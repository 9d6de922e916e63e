import { dataOf, type Schemas } from "../client/api.ts";
import type { paths } from "../client/api-types.ts";
import { type Connection, ErrorResponse } from "./connection.ts";
import { CommandFailure } from "./errors.ts";
import { readData } from "./responses.ts";
import type { WorkflowFile } from "./workflow-files.ts";

/** The body of a request that starts runs. */
export type RunRequest = NonNullable<
  paths["/automation/runs"]["post"]["requestBody"]
>["content"]["application/json"];

/** Reads a stored workflow. Throws CommandFailure, with a similar name, if there is none. */
export async function readWorkflow({ api }: Connection, name: string): Promise<Schemas["WorkflowDetail"]> {
  try {
    return await readData(api.GET("/automation/workflows/{name}", { params: { path: { name } } }));
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
export async function saveFile(
  { api }: Connection,
  { path, text }: WorkflowFile,
): Promise<Schemas["SavedWorkflow"]> {
  try {
    return await dataOf(
      api.POST("/automation/workflows", {
        body: text,
        headers: { "content-type": "application/yaml" },
        bodySerializer: (yaml: unknown) => yaml as string,
      }),
    );
  } catch (error) {
    if (!(error instanceof ErrorResponse) || error.status !== 400) throw error;
    throw new CommandFailure(`${path}: ${error.reason}`, "`weft validate` lists all errors of a file.");
  }
}
