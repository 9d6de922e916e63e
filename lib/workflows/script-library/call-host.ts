import { isRecord } from "./argument-values.ts";
import { type FunctionContext, ScriptError } from "./library-types.ts";

export type Row = Readonly<Record<string, unknown>>;

/**
 * What the tables answer to a question of a script: the records, and how many there are in all where there are more.
 * Throws ScriptError for what is refused.
 */
export function callHost(
  context: FunctionContext,
  what: "records" | "write" | "run" | "document",
  query: Row,
): { readonly records: readonly Row[]; readonly total: number } {
  const answer = context.ask(what, query);
  const { records, total, error } = isRecord(answer) ? answer : {};
  if (typeof error === "string") throw new ScriptError(error);
  return { records: Array.isArray(records) ? records.filter(isRecord) : [], total: Number(total) };
}
