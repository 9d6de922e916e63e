import * as z from "zod";
import { ApiError } from "../../errors.ts";
import { type ChildDeps, childQuery, startChild } from "../runs/start-child.ts";
import { runKey, runsTable, type StoredRun } from "../runs/table.ts";
import type { RecordsAnswer } from "../steps/messages.ts";
import { answerRead, type ReadDeps, readQuery } from "./answer-reads.ts";
import { answerWrite, type WriteDeps, writeQuery } from "./answer-writes.ts";
import { askDocuments, type DocumentAskDeps, documentQuery } from "./document-questions.ts";

const question = z.discriminatedUnion("of", [readQuery, writeQuery, childQuery, documentQuery]);

export type AnswerDeps = ReadDeps & WriteDeps & ChildDeps & DocumentAskDeps;

/**
 * Answers what a script of a run asks of the tables. Never throws for what the script asks wrongly: that is the
 * answer. Reference 3.
 */
export async function answerScript(deps: AnswerDeps, runId: string, asked: unknown): Promise<RecordsAnswer> {
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
  deps: AnswerDeps,
  run: StoredRun,
  query: z.infer<typeof question>,
): Promise<RecordsAnswer> {
  switch (query.of) {
    case "new run":
      return { records: [{ run_id: await startChild(deps, run, query) }], total: 1 };
    case "new asset":
    case "new value":
      return { records: [await answerWrite(deps, run, query)], total: 1 };
    case "new document":
    case "text of document":
    case "more text":
    case "new comment":
      return askDocuments(deps, run, query);
    default:
      return answerRead(deps, run, query);
  }
}
