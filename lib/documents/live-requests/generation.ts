import { ApiError } from "../../errors.ts";
import type { Ports } from "../../platform/ports.ts";
import { documentKey, documentsTable } from "../tables/documents.ts";
import type { DocumentLog, UpdateLogs } from "../updates/update-log.ts";

export type GenerationDeps = Pick<Ports, "tables"> & { readonly updateLogs: UpdateLogs };

/**
 * Opens the log of a document for a client that has content of a generation. Throws `precondition_failed` with the
 * current generation if it is another one; `not_found`.
 */
export async function openLogOf(
  deps: GenerationDeps,
  id: string,
  generation: number | undefined,
): Promise<DocumentLog> {
  let log = await deps.updateLogs.open(id);
  if (generation === undefined || generation === log.generation) return log;
  const current = await readGeneration(deps, id);
  log.close();
  if (generation !== current) throw replacedContent(current);
  // Another process has replaced the content, and this one has not noticed yet.
  await deps.updateLogs.end(id);
  log = await deps.updateLogs.open(id);
  return log;
}

/** The error itself; for `precondition_failed` one with the current generation. */
export async function describeReplaced(
  deps: GenerationDeps,
  log: DocumentLog,
  error: unknown,
): Promise<unknown> {
  if (!(error instanceof ApiError) || error.code !== "precondition_failed") return error;
  const current = await readGeneration(deps, log.document);
  if (current !== log.generation) await deps.updateLogs.end(log.document);
  return replacedContent(current);
}

async function readGeneration({ tables }: GenerationDeps, id: string): Promise<number> {
  return (await tables.get(documentsTable, documentKey(id)))?.generation ?? 0;
}

function replacedContent(generation: number): ApiError {
  const message = "The content of the document has been replaced; open it again.";
  return new ApiError("precondition_failed", message, { body: { detail: message, generation } });
}
