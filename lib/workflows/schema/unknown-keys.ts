import type { Path } from "./problems.ts";

/** Which kind of map a path leads to, as far as its keys are concerned. */
type Place = "workflow" | "step" | "module" | "trigger" | "action" | "other";

const NOT_CARRIED_OUT: Readonly<Record<Place, ReadonlySet<string>>> = {
  workflow: new Set(),
  step: new Set(["host_output_file", "step_remote_file", "step_runner", "step_runner_config", "stream"]),
  module: new Set(["decision", "runner", "runner_config"]),
  trigger: new Set(),
  action: new Set(["export"]),
  other: new Set(),
};

/** Words for the reader only; dropping them changes no run. */
const EXPLANATIONS: Readonly<Partial<Record<Place, ReadonlySet<string>>>> = {
  workflow: new Set(["help"]),
  step: new Set(["suppress_details"]),
  module: new Set(["description"]),
};

const LISTS: Readonly<Record<string, Place>> = {
  steps: "step",
  parallel_steps: "step",
  modules: "module",
  triggers: "trigger",
  pre_scan_steps: "step",
  post_scan_steps: "step",
  on_success: "action",
  on_error: "action",
};

/** The warning for a key that nothing here reads; undefined where none is due. */
export function warnOfKey(path: Path, key: string): string | undefined {
  const place = placeOf(path);
  if (EXPLANATIONS[place]?.has(key)) return undefined;
  return NOT_CARRIED_OUT[place].has(key)
    ? "is known but not carried out yet, ignored"
    : "unknown key, ignored";
}

function placeOf(path: Path): Place {
  const last = path.at(-1);
  if (last === undefined) return "workflow";
  if (last === "step") return "step";
  const around = path.at(-2);
  return typeof last === "number" && typeof around === "string" ? (LISTS[around] ?? "other") : "other";
}
