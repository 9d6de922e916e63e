import * as z from "zod";
import { ApiError } from "../../errors.ts";
import { runKey, runsTable, type StoredRun } from "../runs/table.ts";
import type { HostCallResult } from "../steps/messages.ts";
import { callDocuments, type DocumentCallDeps, documentQuery } from "./document-calls.ts";
import { type ReadDeps, readQuery, readRecords } from "./record-reads.ts";
import { type WriteDeps, writeQuery, writeRecord } from "./record-writes.ts";
import { type ChildDeps, childQuery, startChild } from "./start-child-run.ts";

const question = z.discriminatedUnion("of", [readQuery, writeQuery, childQuery, documentQuery]);

export type ScriptCallDeps = ReadDeps & WriteDeps & ChildDeps & DocumentCallDeps;

/**
 * Handles a call of a run's script to the host. An invalid call does not throw: the result has the error. Reference 3.
 */
export async function handleScriptCall(
  deps: ScriptCallDeps,
  runId: string,
  asked: unknown,
): Promise<HostCallResult> {
  const query = question.safeParse(asked);
  if (!query.success) {
    const [issue] = query.error.issues;
    return { error: `${issue?.path.join(".") ?? ""}: ${issue?.message ?? "is not known"}` };
  }
  try {
    const run = await deps.tables.get(runsTable, runKey(runId));
    if (run === undefined) throw new ApiError("not_found", "there is no such run");
    return await answer(deps, run, query.data);
  } catch (error) {
    if (error instanceof ApiError) return { error: error.message };
    throw error;
  }
}

async function answer(
  deps: ScriptCallDeps,
  run: StoredRun,
  query: z.infer<typeof question>,
): Promise<HostCallResult> {
  switch (query.of) {
    case "new run":
      return { records: [{ run_id: await startChild(deps, run, query) }], total: 1 };
    case "new asset":
    case "new value":
      return { records: [await writeRecord(deps, run, query)], total: 1 };
    case "new document":
    case "text of document":
    case "more text":
    case "new comment":
      return callDocuments(deps, run, query);
    default:
      return readRecords(deps, run, query);
  }
}
