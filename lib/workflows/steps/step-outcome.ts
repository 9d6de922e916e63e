import { redactJson } from "../../events/redact-json.ts";
import type { Input } from "../engine/decide.ts";
import type { StepRequestEntry } from "../engine/walk.ts";
import type { Step } from "../schema/types.ts";
import { outputName } from "../values/needed-names.ts";
import { type StoredValueRef, storeValue, VALUES_INLINE_BYTES } from "../values/stored-values.ts";
import type { WorkspaceChange } from "../workspaces/layers.ts";
import type { AttemptResult } from "./attempt-step.ts";
import type { Attempt, StepDeps } from "./context.ts";
import { type StepReport, type StepWork, sendToConductor } from "./messages.ts";
import { toPortablePaths } from "./portable-paths.ts";
import { logStep } from "./run-log.ts";

/** Maximum length of command, output and exports in a step's row, characters. */
const SHOWN_COMMAND_MAX = 8_000;
const SHOWN_OUTPUT_MAX = 16_000;
export const SHOWN_EXPORT_MAX = 1_000;
/** Maximum number of environment variables in a step's row. */
const SHOWN_VARIABLES_MAX = 64;

/** The outcome of a step: the conductor's input and the fields of the step's row. */
export interface StepOutcome extends AttemptResult {
  readonly total?: number;
  readonly parallel?: number;
  readonly deadline?: number;
  readonly failedItems?: number;
  readonly failedAt?: string;
}

/** A claimed step: its attempt, its work, and when it started by the clock, milliseconds. */
export interface ClaimedStep {
  readonly attempt: Attempt;
  readonly work: StepWork;
  readonly startedAt: number;
}

export function logStepStart(attempt: Attempt): void {
  const { request, step, number } = attempt;
  if (request.phase === "leave") return;
  const items = request.items === undefined ? "" : `, items ${request.items[0] + 1} to ${request.items[1]}`;
  logStep(attempt, `started (${step.type}${items}${number > 1 ? `, attempt ${number}` : ""})`);
}

/** Logs the outcome of a step, and its output unless the log already contains it. */
function logStepEnd({ attempt, startedAt }: ClaimedStep, outcome: StepOutcome): void {
  const { request, deps, step } = attempt;
  if (request.phase === "enter" && outcome.status === "completed") {
    if (step.type === "foreach") logStep(attempt, `${outcome.total ?? 0} items`);
    return;
  }
  const output = step.type === "bash" || request.items !== undefined ? "" : displayText(outcome.output);
  if (output !== "" && request.phase === "run") logStep(attempt, output.slice(0, SHOWN_OUTPUT_MAX), "| ");
  const took = `after ${Math.max(0, deps.clock.now() - startedAt)} ms`;
  const why = outcome.status === "failed" ? `: ${outcome.error ?? ""}` : "";
  logStep(attempt, `${outcome.status} ${took}${why}`);
}

/** Reports the outcome of a step to the conductor, and logs it. */
export async function reportOutcome(
  deps: StepDeps,
  claimed: ClaimedStep,
  outcome: StepOutcome,
  files: WorkspaceChange | undefined,
): Promise<void> {
  const { run, request, step, number } = claimed.attempt;
  logStepEnd(claimed, outcome);
  const entered = request.phase === "enter" && outcome.status === "completed";
  const values: Record<string, StoredValueRef> = {};
  let inlineBytes = VALUES_INLINE_BYTES;
  for (const [name, value] of Object.entries(entered ? {} : namedValues(outcome, step, request))) {
    const kept = await storeValue(
      deps,
      run.run_id,
      toPortablePaths(deps, redacted(deps, value)),
      inlineBytes,
    );
    if ("json" in kept) inlineBytes -= Buffer.byteLength(kept.json);
    values[name] = kept;
  }
  const text = toPortablePaths(deps, displayText(outcome.output));
  const input: Input = {
    type: "result",
    key: request.key,
    dispatch: request.dispatch,
    status: outcome.status,
    ...(outcome.error === undefined ? {} : { error: outcome.error }),
    ...(outcome.tolerated === undefined ? {} : { tolerated: outcome.tolerated }),
    ...(outcome.total === undefined ? {} : { total: outcome.total }),
    ...(outcome.parallel === undefined ? {} : { parallel: outcome.parallel }),
    ...(outcome.deadline === undefined ? {} : { deadline: outcome.deadline }),
    ...(outcome.failedItems === undefined ? {} : { failed_items: outcome.failedItems }),
    ...(outcome.failedAt === undefined ? {} : { failed_at: outcome.failedAt }),
    ...(outcome.goto === undefined ? {} : { goto: outcome.goto }),
    ...(outcome.retryAt === undefined ? {} : { retry_at: outcome.retryAt }),
  };
  const report: StepReport = {
    attempt: number,
    command: toPortablePaths(deps, deps.secrets.redact(outcome.command)).slice(0, SHOWN_COMMAND_MAX),
    output: deps.secrets.redact(text.slice(0, SHOWN_OUTPUT_MAX)),
    output_truncated: text.length > SHOWN_OUTPUT_MAX,
    output_lines: text === "" ? 0 : text.split("\n").length,
    duration_ms: Math.max(0, deps.clock.now() - claimed.startedAt),
    log_file: outcome.logFile.split("/").at(-1) ?? "",
    exports: shownExports(deps, outcome.exports),
    environment: shownEnvironment(deps, claimed.attempt.shown.environment),
    values,
    ...(files === undefined ? {} : { files }),
  };
  await sendToConductor(deps, { run_id: run.run_id, input, report }, `${request.dispatch}`);
}

/**
 * Returns the values for later steps. Items of a foreach would overwrite each other's values, so a step inside a
 * foreach only stores its output, under a name of its own, for the foreach.
 */
function namedValues(
  outcome: StepOutcome,
  step: Step,
  { key, phase }: StepRequestEntry,
): Record<string, unknown> {
  const ofModule = phase === "gate" || phase === "handlers";
  return key.includes("#") && !ofModule
    ? { [outputName(step.name, key)]: outcome.output }
    : { ...outcome.exports };
}

function redacted(deps: Pick<StepDeps, "secrets">, value: unknown): unknown {
  if (typeof value === "string") return deps.secrets.redact(value);
  if (typeof value !== "object" || value === null) return value;
  return redactJson(value, deps.secrets.redact);
}

export function displayText(value: unknown): string {
  if (value === null || value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Values without secrets, by name. */
function shownEnvironment(
  deps: Pick<StepDeps, "secrets" | "paths" | "workspaceSync">,
  environment: Readonly<Record<string, string>>,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment)
      .slice(0, SHOWN_VARIABLES_MAX)
      .map(([name, value]) => [
        name,
        toPortablePaths(deps, deps.secrets.redact(value)).slice(0, SHOWN_EXPORT_MAX),
      ]),
  );
}

function shownExports(
  deps: Pick<StepDeps, "secrets" | "paths" | "workspaceSync">,
  exports: Readonly<Record<string, unknown>>,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(exports).map(([name, value]) => [
      name,
      toPortablePaths(deps, deps.secrets.redact(displayText(value))).slice(0, SHOWN_EXPORT_MAX),
    ]),
  );
}
