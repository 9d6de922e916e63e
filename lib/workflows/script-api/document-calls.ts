import * as z from "zod";
import { ApiError } from "../../errors.ts";
import { EVENT_HOPS_MAX } from "../../events/publish.ts";
import { derivedId } from "../../platform/ids.ts";
import type { Ports } from "../../platform/ports.ts";
import { isTerminal } from "../engine/history.ts";
import { recordWrittenDocument } from "../runs/run-links.ts";
import type { StoredRun } from "../runs/table.ts";
import type { HostCallResult } from "../steps/messages.ts";

const TITLE_MAX_CHARS = 255;
/** Longest text that a script writes to a document, characters. */
const TEXT_MAX_CHARS = 1_000_000;
const CALL_ID_MAX_CHARS = 4096;

const id = z.guid("must be the id of a document").transform((text) => text.toLowerCase());
const text = z.string().max(TEXT_MAX_CHARS, `must have at most ${TEXT_MAX_CHARS} characters`);
/** Identifies the call; the same in every execution of its step. */
const call_id = z.string().min(1).max(CALL_ID_MAX_CHARS);

/** Calls of scripts to documents. */
export const documentQuery = z.discriminatedUnion("of", [
  z.object({
    of: z.literal("new document"),
    title: z.string().max(TITLE_MAX_CHARS, `must have at most ${TITLE_MAX_CHARS} characters`),
    content: text.optional(),
    parent: id.optional(),
    call_id,
  }),
  z.object({ of: z.literal("text of document"), id, call_id }),
  z.object({ of: z.literal("more text"), id, text: text.min(1, "must not be empty"), call_id }),
  z.object({ of: z.literal("new comment"), id, text: text.min(1, "must not be empty"), call_id }),
]);

/** A call in the form that the document service takes. */
export type DocumentCall =
  | {
      readonly of: "new document";
      readonly title: string;
      readonly content?: string | undefined;
      readonly parent?: string | undefined;
    }
  | { readonly of: "text of document"; readonly id: string }
  | { readonly of: "more text" | "new comment"; readonly id: string; readonly text: string };

/** The caller: a call of a step's script. */
export interface DocumentCaller {
  /** A UUID, the same in every execution of the step. */
  readonly call: string;
  /** The cause of the events of its changes. */
  readonly cause: { readonly run_id: string; readonly workflow_name: string; readonly hop: number };
}

/**
 * Handles a call to the document service: returns a text, or the id of the created object, which is created once per
 * call. Throws ApiError if the call is refused.
 */
export type HandleDocumentCall = (query: DocumentCall, by: DocumentCaller) => Promise<string>;

export interface DocumentCallDeps extends Pick<Ports, "tables"> {
  readonly handleDocumentCall: HandleDocumentCall;
}

/** Throws `bad_request` if the run has ended or has too many hops, and what the document service throws. */
export async function callDocuments(
  { handleDocumentCall, tables }: DocumentCallDeps,
  run: StoredRun,
  { call_id, ...query }: z.infer<typeof documentQuery>,
): Promise<HostCallResult> {
  const hop = run.hop + 1;
  if (query.of !== "text of document") {
    if (isTerminal(run.status)) throw new ApiError("bad_request", "the calling run has finished");
    if (hop > EVENT_HOPS_MAX)
      throw new ApiError("bad_request", `more than ${EVENT_HOPS_MAX} runs triggered one another`);
  }
  const { run_id, workflow_name } = run;
  const call = derivedId("document", run_id, query.of, call_id);
  const answer = await handleDocumentCall(query, { call, cause: { run_id, workflow_name, hop } });
  if (query.of !== "text of document")
    await recordWrittenDocument({ tables }, run, query.of === "new document" ? answer : query.id);
  return { records: [{ answer }], total: 1 };
}
