import type { Frame } from "../engine/history.ts";
import { buildProgram, type Program } from "../engine/program.ts";
import type { Definitions } from "../store/store.ts";
import { type StoredRun, type StoredStep, stepKey } from "./table.ts";

/** Returns the program of a run, from its pinned revisions. */
export async function programOf(
  deps: { readonly definitions: Definitions },
  run: StoredRun,
): Promise<Program> {
  const definitions = await Promise.all(
    run.modules.map((module) => deps.definitions.get(module.workflow, module.revision)),
  );
  const flow =
    run.workflow_kind === "flow"
      ? await deps.definitions.get(run.workflow_name, run.workflow_revision)
      : undefined;
  const holder = flow === undefined ? undefined : { definition: flow, params: run.params };
  return buildProgram(run.modules, definitions, holder);
}

/** Whether a step has its own row and events. Items of a foreach do not: the foreach aggregates them. */
export const hasOwnRow = (key: string): boolean => !key.includes("#");

/** Returns the row of a running step. */
export function stepRow(
  run: Pick<StoredRun, "run_id" | "begun" | "updated_at" | "state">,
  program: Program,
  key: string,
  frame: Frame,
): StoredStep {
  const module = program.modules[frame.module];
  const begun = run.begun[key] ?? run.updated_at;
  return {
    ...stepKey(run.run_id, key),
    id: `${run.run_id}:${key}`,
    key,
    step_name: frame.step,
    step_type: module?.byName.get(frame.step)?.type ?? "",
    module: module?.name ?? "",
    status: "running",
    error_message: "",
    dispatch: frame.dispatch,
    attempt: frame.attempt ?? 1,
    command: "",
    output: "",
    output_truncated: false,
    exports: {},
    duration_ms: 0,
    log_file: "",
    started_at: begun,
    completed_at: null,
    created_at: begun,
  };
}
