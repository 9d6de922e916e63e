import type { Jq } from "jq-wasm";
import { textOf } from "./argument-values.ts";
import type { LibraryFunction } from "./library-types.ts";

/** The engine's memory never shrinks: after an input of this length it is loaded again. In UTF-16 units. */
const LARGE_INPUT_CHARS = 4 * 1024 * 1024;

let engine: Jq | undefined;

/** Loads jq from this URL; by default from its package. */
export async function prepareJq(wasmURL?: URL): Promise<void> {
  engine ??= await (await import("jq-wasm")).loadJq(wasmURL === undefined ? {} : { wasmURL });
}

/** Loads jq from its package. */
export const prepare = (): Promise<void> => prepareJq();

/** The first result of the query; "" if there is none. Throws jq's error. */
export function firstResult(json: string, query: unknown): unknown {
  if (engine === undefined) throw new Error("jq is loaded only for scripts that name the function");
  const jq = engine;
  // Cleared until the call succeeds: a jq that trapped is not used again.
  engine = undefined;
  // `first` stops endless queries; the line break ends a comment. Options end at `--`, since a query may start with a
  // dash.
  const { stdout, stderr, exitCode } = jq.raw(json, `first(${textOf(query)}\n)`, ["-c", "--"]);
  if (json.length < LARGE_INPUT_CHARS) engine = jq;
  if (exitCode !== 0) throw new Error(stderr.replace(/^jq: /, ""));
  const [line = ""] = stdout.split("\n", 1);
  return line === "" ? "" : JSON.parse(line);
}

export const queryFunctions = {
  jq: {
    group: "data_query",
    params: ["json", "query"],
    returns: "any",
    summary: "The first result of a jq query on JSON text or a value; empty on an error",
    failure: "",
    prepare,
    run: ([json, query]) =>
      firstResult(typeof json === "string" ? json : JSON.stringify(json ?? null), query),
  },
} satisfies Record<string, LibraryFunction>;
