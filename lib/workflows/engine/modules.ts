import type { Step } from "../schema/types.ts";
import { MODULES_AT_ONCE, STEPS_AT_ONCE } from "./containers.ts";
import type { FinishedStatus, ModuleState } from "./history.ts";
import { hasEnding, type ProgramModule } from "./program.ts";
import { isContainer, standIn, type Walk } from "./walk.ts";

/**
 * Starts the modules whose predecessors are done, and ends the run with the last module. A module whose predecessor
 * failed is skipped; modules that depend on neither continue.
 */
export function advance(walk: Walk): void {
  const { modules } = walk.program;
  for (let moved = true; moved; ) {
    moved = false;
    for (const [index, module] of modules.entries()) {
      if (walk.state.status !== "running") return;
      if (walk.state.modules[index] !== undefined || underWay(walk) >= MODULES_AT_ONCE) continue;
      const before = module.after.map((other) => walk.state.modules[other]);
      if (before.some((other) => other === undefined || other.status === "running")) continue;
      moved = true;
      const failed = before.findIndex((other) => other !== undefined && hasFailed(other));
      if (failed >= 0) passOver(walk, index, `${modules[module.after[failed] ?? -1]?.name ?? ""} failed`);
      else if (module.excluded === true) passOver(walk, index, "excluded");
      else startModule(walk, index, module);
    }
  }
  if (underWay(walk) === 0) endRun(walk);
}

const underWay = ({ state }: Walk): number =>
  Object.values(state.modules).filter(({ status }) => status === "running").length;

const hasFailed = ({ status, tolerated }: ModuleState): boolean => status === "failed" && tolerated !== true;

function passOver(walk: Walk, module: number, error: string): void {
  walk.add({ type: "module.finished", module, status: "skipped", error });
}

function endRun(walk: Walk): void {
  if (walk.state.status !== "running") return;
  const failed = walk.program.modules.findIndex((_, index) => {
    const module = walk.state.modules[index];
    return module !== undefined && hasFailed(module);
  });
  if (failed < 0) walk.endRun("completed");
  else walk.endRun("failed", walk.state.modules[failed]?.error ?? "failed");
}

function startModule(walk: Walk, index: number, module: ProgramModule): void {
  const { name, waitsFor, gate } = module;
  const graph = waitsFor === undefined ? {} : { graph: waitsFor.length };
  walk.add({ type: "module.started", module: index, name, ...graph });
  if (gate === undefined) nextSteps(walk, index);
  else walk.ask(`${name}/#gate`, standIn(module), { module: index, parent: null }, "gate");
}

/** Applies the outcome of a module's gate: its steps run, or the module ends as skipped or failed. */
export function passGate(
  walk: Walk,
  index: number,
  { status, error }: { readonly status: FinishedStatus; readonly error?: string },
): void {
  if (status === "completed") nextSteps(walk, index);
  else endSteps(walk, index, status, error);
}

/** Continues a module after one of its top-level steps. */
export function afterStep(walk: Walk, index: number): void {
  const now = walk.state.modules[index];
  if (now === undefined) return;
  if (now.error !== undefined && now.steps === undefined) endSteps(walk, index, "failed", now.error);
  else nextSteps(walk, index);
}

function nextSteps(walk: Walk, index: number): void {
  const module = walk.program.modules[index];
  const now = walk.state.modules[index];
  if (module === undefined || now === undefined) return;
  if (module.waitsFor !== undefined && now.steps !== undefined) {
    nextOfGraph(walk, index, module, module.waitsFor);
    return;
  }
  const step = module.steps[now.cursor];
  if (step === undefined) endSteps(walk, index, "completed");
  else ask(walk, index, module, step, now.cursor);
}

/** Starts every step whose predecessors are done; a step whose predecessor failed never starts. */
function nextOfGraph(
  walk: Walk,
  index: number,
  module: ProgramModule,
  waitsFor: readonly (readonly number[])[],
): void {
  const letters = (): string => walk.state.modules[index]?.steps ?? "";
  for (const [position, forerunners] of waitsFor.entries()) {
    const now = letters();
    if (now[position] !== "-" || now.split("r").length > STEPS_AT_ONCE) continue;
    const step = module.steps[position];
    if (step !== undefined && forerunners.every((one) => now[one] === "c" || now[one] === "s"))
      ask(walk, index, module, step, position);
  }
  if (letters().includes("r")) return;
  const error = walk.state.modules[index]?.error;
  if (error === undefined) endSteps(walk, index, "completed");
  else endSteps(walk, index, "failed", error);
}

function ask(walk: Walk, index: number, module: ProgramModule, step: Step, position: number): void {
  // In a flow the key includes the module, since two modules may use the same step name.
  const key = walk.program.modules.length > 1 ? `${module.name}/${step.name}` : step.name;
  walk.ask(key, step, { module: index, position, parent: null }, isContainer(step) ? "enter" : "run");
}

/** Runs the handlers and reports of a module after its steps, or ends the module if it has none. */
function endSteps(walk: Walk, index: number, status: FinishedStatus, error?: string): void {
  const module = walk.program.modules[index];
  if (module === undefined) return;
  if (status !== "skipped" && hasEnding(module, status === "completed")) {
    walk.ask(`${module.name}/#handlers`, standIn(module), { module: index, parent: null }, "handlers");
    return;
  }
  endModule(walk, index, status, error);
}

/** Ends a module after its handlers. */
export function handled(walk: Walk, index: number, tolerated: boolean): void {
  const error = walk.state.modules[index]?.error;
  if (error === undefined) endModule(walk, index, "completed");
  else endModule(walk, index, "failed", error, tolerated);
}

function endModule(
  walk: Walk,
  module: number,
  status: FinishedStatus,
  error?: string,
  tolerated = false,
): void {
  walk.add({
    type: "module.finished",
    module,
    status,
    ...(error === undefined ? {} : { error }),
    ...(tolerated ? { tolerated } : {}),
  });
  advance(walk);
}
