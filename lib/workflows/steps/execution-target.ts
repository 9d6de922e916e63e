import { parseDuration } from "../../durations.ts";
import type { StepRequestEntry } from "../engine/walk.ts";
import type { Action, Decision, DecisionCase, FunctionStep, Step } from "../schema/types.ts";
import { aliasOf, WORKSPACE_FUNCTIONS } from "../script-library/workspace-functions.ts";
import { STREAM_EXPORT } from "../values/needed-names.ts";
import type { ExecutionTarget } from "./messages.ts";

/** Steps that may take longer do not run in Lambda, milliseconds. */
const SHORT_MS = 14 * 60 * 1000;

const IDENTIFIER = /[A-Za-z_$][\w$]*/g;

const NAMES: ReadonlySet<string> = new Set([
  ...WORKSPACE_FUNCTIONS,
  ...[...WORKSPACE_FUNCTIONS].map(aliasOf),
]);

/**
 * Where a step is executed: on the machine of the run's workspace if it uses files, starts commands, processes many
 * items or may take long; otherwise anywhere.
 */
export function executionTargetOf(
  step: Step,
  { phase, items }: Pick<StepRequestEntry, "phase" | "items">,
): ExecutionTarget {
  if (step.type === "bash" || step.type === "remote-bash") return "workspace";
  if (items !== undefined || !isShort(step.timeout)) return "workspace";
  // The input may name a file.
  if (step.type === "foreach" && phase === "enter" && typeof step.input === "string") return "workspace";
  if (step.type === "foreach" && phase === "leave" && STREAM_EXPORT in step.exports) return "workspace";
  if (step.type === "function" && looksAround(step)) return "workspace";
  if (phase === "handlers" && step.type === "function" && step.reports !== undefined) return "workspace";
  return callsWorkspace(step) ? "workspace" : "anywhere";
}

/** Commands, files and folders exist only on the machine of the workspace. */
function looksAround({ gate }: FunctionStep): boolean {
  if (gate?.dependencies === undefined) return false;
  const { commands, files, target_types, variables, functions_conditions } = gate.dependencies;
  const types = [...target_types, ...variables.flatMap((variable) => variable.types)];
  return (
    commands.length + files.length + functions_conditions.length > 0 ||
    types.some((type) => type === "file" || type === "folder")
  );
}

/** The value of a template is unknown until it is rendered. */
function isShort(timeout: Step["timeout"]): boolean {
  if (timeout === undefined) return true;
  const milliseconds = parseDuration(timeout);
  return milliseconds !== undefined && milliseconds <= SHORT_MS;
}

function callsWorkspace(step: Step): boolean {
  const sources = [step.pre_condition, ...Object.values(step.exports)];
  if (step.type === "function")
    sources.push(step.function, ...(step.functions ?? []), ...(step.parallel_functions ?? []));
  if (step.type === "foreach") sources.push(step.variable_pre_process);
  for (const one of casesOf(step.decision)) {
    if (startsCommands(one)) return true;
    sources.push(one.if, ...one.functions);
  }
  for (const action of [...step.on_success, ...step.on_error]) {
    if (startsCommand(action)) return true;
    sources.push(action.condition, ...(action.functions ?? []));
  }
  return sources.some((source) => (source?.match(IDENTIFIER) ?? []).some((name) => NAMES.has(name)));
}

function casesOf(decision: Decision | undefined): readonly (DecisionCase & { readonly if?: string })[] {
  if (decision === undefined) return [];
  const { cases, default: otherwise, conditions } = decision;
  return [...Object.values(cases), ...(otherwise === undefined ? [] : [otherwise]), ...conditions];
}

const startsCommands = ({ commands }: DecisionCase): boolean => commands.length > 0;

const startsCommand = ({ action, command }: Action): boolean => action === "run" && command !== undefined;
