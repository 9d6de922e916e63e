import { isRecord } from "./argument-values.ts";
import { type FunctionContext, ScriptError } from "./library-types.ts";

export type Row = Readonly<Record<string, unknown>>;

/**
 * Calls the host, which can read tables: returns the records and their total, which may be greater. Throws ScriptError
 * if the host refuses the call.
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
