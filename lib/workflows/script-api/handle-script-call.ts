import * as z from "zod";
import { ApiError } from "../../errors.ts";
import { EVENT_HOPS_MAX } from "../../events/publish.ts";
import { derivedId } from "../../platform/ids.ts";
import { isTerminal } from "../engine/history.ts";
import { composeRun } from "../runs/create.ts";
import { requireManualStart } from "../runs/manual-trigger.ts";
import { requireRunBudget } from "../runs/run-budget.ts";
import { causeFields, readStart, type StartDeps, startBody } from "../runs/start.ts";
import { rootCauseOf, runKey, runsTable, type StoredRun } from "../runs/table.ts";
import type { HostCallResult } from "../steps/messages.ts";
import type { CatalogReader } from "../store/catalog.ts";
import { callDocuments, type DocumentCallDeps, documentQuery } from "./document-calls.ts";
import { type ReadDeps, readQuery, readRecords } from "./record-reads.ts";
import { type WriteDeps, writeQuery, writeRecord } from "./record-writes.ts";

const CALL_ID_MAX_CHARS = 4096;

/** A script's call to start a run: the fields of `POST /runs` that it may set, and the call's position. */
const childQuery = startBody.pick({ module: true, flow: true, target: true, params: true }).extend({
  of: z.literal("new run"),
  /** Identifies the call; the same in every execution of its step. */
  call_id: z.string().min(1).max(CALL_ID_MAX_CHARS),
});

type ChildDeps = StartDeps & { readonly catalog: CatalogReader };

/**
 * Starts a child run of `parent`, with the checks of a request and one hop more. Idempotent per `call_id`: returns the
 * existing run. Throws `bad_request`, `not_found`, `conflict`.
 */
async function startChild(
  deps: ChildDeps,
  parent: StoredRun,
  { of: _of, call_id, ...body }: z.infer<typeof childQuery>,
): Promise<string> {
  const runId = derivedId("run", parent.run_id, call_id);
  const isThere = async () => (await deps.tables.get(runsTable, runKey(runId))) !== undefined;
  if (await isThere()) return runId;
  if (isTerminal(parent.status)) throw new ApiError("bad_request", "the calling run has finished");
  const hop = parent.hop + 1;
  if (hop > EVENT_HOPS_MAX)
    throw new ApiError("bad_request", `more than ${EVENT_HOPS_MAX} runs triggered one another`);
  const { plan, workflow, targets, request } = await readStart(deps, body);
  await requireManualStart(deps, workflow);
  const [target = ""] = targets;
  const cause = { hop, root_cause: rootCauseOf(parent), run_id: parent.run_id };
  await requireRunBudget(deps, cause);
  const { commit, run } = await composeRun(
    deps,
    { ...request, ...causeFields(cause), parent: parent.run_id, runId, target },
    plan,
  );
  if (run.status === "failed") throw new ApiError("bad_request", `params: ${run.error_message}`);
  const outcome = await deps.outbox.commit(commit);
  if (!outcome.ok && !(await isThere()))
    throw new ApiError("conflict", "The run could not be created, try again");
  return runId;
}

const scriptQuery = z.discriminatedUnion("of", [readQuery, writeQuery, childQuery, documentQuery]);

export type ScriptCallDeps = ReadDeps & WriteDeps & ChildDeps & DocumentCallDeps;

/**
 * Handles a call of a run's script to the host. An invalid call does not throw: the result has the error. Reference 3.
 */
export async function handleScriptCall(
  deps: ScriptCallDeps,
  runId: string,
  call: unknown,
): Promise<HostCallResult> {
  const query = scriptQuery.safeParse(call);
  if (!query.success) {
    const [issue] = query.error.issues;
    return { error: `${issue?.path.join(".") ?? ""}: ${issue?.message ?? "is not known"}` };
  }
  try {
    const run = await deps.tables.get(runsTable, runKey(runId));
    if (run === undefined) throw new ApiError("not_found", "the run does not exist");
    return await handleQuery(deps, run, query.data);
  } catch (error) {
    if (error instanceof ApiError) return { error: error.message };
    throw error;
  }
}

async function handleQuery(
  deps: ScriptCallDeps,
  run: StoredRun,
  query: z.infer<typeof scriptQuery>,
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
