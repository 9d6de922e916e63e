/** Functions that start child runs, with one hop more. Reference 3, utility. */

import { isRecord, textOf } from "./argument-values.ts";
import { callHost } from "./call-host.ts";
import { type FunctionContext, type LibraryFunction, ScriptError } from "./library-types.ts";
import { objectOf } from "./record-events.ts";

const group = "utility";

/** An object, its JSON text, or `name=value` pairs separated by commas or line breaks. */
function paramsOf(params: unknown): unknown {
  const text = textOf(params).trim();
  if (isRecord(params) || text.startsWith("{")) return objectOf(params);
  const pairs = text.split(/[,\n]/).flatMap((pair): [string, string][] => {
    if (pair.trim() === "") return [];
    const at = pair.indexOf("=");
    if (at < 1) throw new Error("params must be an object, or name=value pairs separated by commas");
    return [[pair.slice(0, at).trim(), pair.slice(at + 1).trim()]];
  });
  return Object.fromEntries(pairs);
}

/** Throws if the run is not started: a failure value would hide that. */
function starts(name: "run_module" | "run_flow"): LibraryFunction {
  const kind = name === "run_flow" ? "flow" : "module";
  return {
    group,
    params: [kind, "target", "params?"],
    returns: "string",
    summary: `Starts a run of a ${kind} like POST /runs, and returns its id immediately; retries of the step return the same run`,
    example: `${name}("enum-${kind}", "example.com", { threads: 5 })`,
    run: ([workflow, target, params], context: FunctionContext) => {
      try {
        const named = textOf(workflow).trim();
        if (named === "") throw new Error(`the name of the ${kind} is required`);
        const asked = { [kind]: named, target: textOf(target), params: paramsOf(params) };
        return textOf(callHost(context, "run", asked).records[0]?.run_id);
      } catch (thrown) {
        throw new ScriptError(`${name}: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
      }
    },
  };
}

export const childRunFunctions = {
  run_module: starts("run_module"),
  run_flow: starts("run_flow"),
} satisfies Record<string, LibraryFunction>;
