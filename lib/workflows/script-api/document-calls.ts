import * as z from "zod";
import { ApiError } from "../../errors.ts";
import { EVENT_HOPS_MAX } from "../../events/publish.ts";
import { derivedId } from "../../platform/ids.ts";
import { isTerminal } from "../engine/history.ts";
import type { StoredRun } from "../runs/table.ts";
import type { HostCallResult } from "../steps/messages.ts";

const TITLE_MAX_CHARS = 255;
/** Of a document that a script writes, or adds to one, characters. */
const TEXT_MAX_CHARS = 1_000_000;
const PLACE_MAX_CHARS = 4096;

const id = z.guid("must be the id of a document").transform((text) => text.toLowerCase());
const text = z.string().max(TEXT_MAX_CHARS, `must have at most ${TEXT_MAX_CHARS} characters`);
/** The call, the same however often its step is executed. */
const place = z.string().min(1).max(PLACE_MAX_CHARS);

/** What scripts ask of documents. */
export const documentQuery = z.discriminatedUnion("of", [
  z.object({
    of: z.literal("new document"),
    title: z.string().max(TITLE_MAX_CHARS, `must have at most ${TITLE_MAX_CHARS} characters`),
    content: text.optional(),
    parent: id.optional(),
    place,
  }),
  z.object({ of: z.literal("text of document"), id, place }),
  z.object({ of: z.literal("more text"), id, text: text.min(1, "must not be empty"), place }),
  z.object({ of: z.literal("new comment"), id, text: text.min(1, "must not be empty"), place }),
]);

/** A question as the documents take it. */
export type DocumentCall =
  | {
      readonly of: "new document";
      readonly title: string;
      readonly content?: string | undefined;
      readonly parent?: string | undefined;
    }
  | { readonly of: "text of document"; readonly id: string }
  | { readonly of: "more text" | "new comment"; readonly id: string; readonly text: string };

/** Which call of which run asks. */
export interface DocumentCaller {
  /** A UUID: the same however often the step of the call is executed. */
  readonly call: string;
  /** For the events of what it changes. */
  readonly cause: { readonly run_id: string; readonly workflow_name: string; readonly hop: number };
}

/**
 * Answers for the documents, which are another service: a text, or the id of what was made, which is made once for
 * each call. Throws what is refused as an ApiError.
 */
export type HandleDocumentCall = (question: DocumentCall, by: DocumentCaller) => Promise<string>;

export interface DocumentCallDeps {
  readonly answerDocuments: HandleDocumentCall;
}

/** Throws `bad_request` for a run that is over or too far from what began it, and what the documents refuse. */
export async function callDocuments(
  { answerDocuments }: DocumentCallDeps,
  run: StoredRun,
  { place, ...question }: z.infer<typeof documentQuery>,
): Promise<HostCallResult> {
  const hop = run.hop + 1;
  if (question.of !== "text of document") {
    if (isTerminal(run.status)) throw new ApiError("bad_request", "the run that asks is over");
    if (hop > EVENT_HOPS_MAX)
      throw new ApiError("bad_request", `more than ${EVENT_HOPS_MAX} runs caused one another`);
  }
  const { run_id, workflow_name } = run;
  const call = derivedId("document", run_id, question.of, place);
  const answer = await answerDocuments(question, { call, cause: { run_id, workflow_name, hop } });
  return { records: [{ answer }], total: 1 };
}
