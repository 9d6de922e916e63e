import type { WorkflowParts } from "./inherit.ts";
import { STEP_NESTING_DEPTH, STEPS_PER_WORKFLOW } from "./limits.ts";
import type { Path } from "./problems.ts";
import type { ReadTrigger } from "./schema-triggers.ts";
import {
  type Decision,
  type Definition,
  type FlowModule,
  HOOKS,
  type Step,
  type Trigger,
  type WorkflowKind,
} from "./types.ts";

/** Takes what the rules across parts of a workflow have to say. */
export interface Findings {
  refuse(path: Path, message: string): void;
  warn(path: Path, message: string): void;
}

/** Applies the rules that no single part can know, and gives the one form; worthless once something was refused. */
export function normalize(read: WorkflowParts, name: string, findings: Findings): Definition {
  const kind = read.kind ?? (read.modules !== undefined && read.steps === undefined ? "flow" : "module");
  checkKind(read, kind, findings);
  checkUnique(read.params, ["params"], findings);
  const steps = read.steps ?? [];
  const modules: readonly FlowModule[] = read.modules ?? [];
  const counter = { steps: 0 };
  const { pre_scan_steps = [], post_scan_steps = [] } = read.hooks ?? {};
  checkSteps(
    [
      { steps, path: ["steps"] },
      { steps: pre_scan_steps, path: ["hooks", "pre_scan_steps"] },
      { steps: post_scan_steps, path: ["hooks", "post_scan_steps"] },
    ],
    counter,
    findings,
  );
  if (kind === "flow" && read.hooks !== undefined) {
    for (const [at, { name }] of modules.entries())
      if (isHookModule(name)) findings.refuse(["modules", at, "name"], `is the name of the flow's hooks`);
  }
  checkModules(modules, counter, findings);
  return {
    name,
    kind,
    description: read.description,
    tags: read.tags,
    hidden: read.hidden,
    params: read.params,
    triggers: nameTriggers(read.triggers, findings),
    steps,
    modules,
    ...(read.hooks !== undefined && { hooks: read.hooks }),
    ...(read.dependencies !== undefined && { dependencies: read.dependencies }),
    ...(kind === "module" && runnerOf(read, findings)),
    ...(read.reports.length > 0 && { reports: read.reports }),
    ...preferencesOf(read, findings),
  };
}

const isHookModule = (name: string): boolean => HOOKS.some((hook) => hook === name);

function runnerOf(
  { runner, runner_config: config = {} }: WorkflowParts,
  findings: Findings,
): Pick<Definition, "runner"> {
  if (runner === undefined || runner === "host") return {};
  const wanted = runner === "docker" ? "image" : "host";
  if (config[wanted] === undefined)
    findings.refuse(["runner_config", wanted], `is required for runner: ${runner}`);
  return { runner: { kind: runner, config } };
}

function preferencesOf(
  { preferences: { disable_notifications, ...preferences } }: WorkflowParts,
  findings: Findings,
): Pick<Definition, "preferences"> {
  const warn = (name: string, why: string): void => findings.warn(["preferences", name], why);
  if (disable_notifications !== undefined)
    warn("disable_notifications", "has no effect: nobody is notified of a run, its end is an event");
  if (preferences.heuristics_check === "advanced")
    warn("heuristics_check", "advanced does no more than basic: nobody is asked about the target");
  if (preferences.repeat_wait_time !== undefined && preferences.repeat !== true)
    warn("repeat_wait_time", "has no effect without repeat");
  return Object.keys(preferences).length === 0 ? {} : { preferences };
}

function checkKind(read: WorkflowParts, kind: WorkflowKind, findings: Findings): void {
  const [own, other] = kind === "module" ? (["steps", "modules"] as const) : (["modules", "steps"] as const);
  if (read[other] !== undefined) findings.refuse([other], `a ${kind} has ${own}, not ${other}`);
  if ((read[own] ?? []).length === 0) findings.refuse([own], `a ${kind} needs at least one entry in ${own}`);
}

function checkUnique(named: readonly { readonly name: string }[], path: Path, findings: Findings): void {
  const seen = new Set<string>();
  for (const [at, { name }] of named.entries()) {
    if (seen.has(name)) findings.refuse([...path, at, "name"], `the name "${name}" is used twice`);
    seen.add(name);
  }
}

function checkModules(modules: readonly FlowModule[], counter: { steps: number }, findings: Findings): void {
  checkUnique(modules, ["modules"], findings);
  checkOrder(modules, ["modules"], "module", findings);
  for (const [at, each] of modules.entries()) {
    if (each.steps === undefined) continue;
    checkSteps([{ steps: each.steps, path: ["modules", at, "steps"] }], counter, findings);
  }
}

interface Waiting {
  readonly name: string;
  readonly depends_on?: readonly string[];
}

/** Who is waited for is there, and nobody waits for itself, however far around. */
function checkOrder(all: readonly Waiting[], path: Path, what: string, findings: Findings): void {
  const byName = new Map(all.map((each) => [each.name, each]));
  for (const [at, each] of all.entries()) {
    for (const [position, name] of (each.depends_on ?? []).entries()) {
      if (!byName.has(name))
        findings.refuse([...path, at, "depends_on", position], `there is no ${what} "${name}"`);
    }
  }
  const circle = circleIn(byName);
  if (circle === undefined) return;
  const at = all.findIndex(({ name }) => name === circle[0]);
  findings.refuse([...path, at, "depends_on"], `waits for itself: ${circle.join(" -> ")}`);
}

/** Names that wait for each other in a circle, the first again at the end. */
function circleIn(byName: ReadonlyMap<string, Waiting>): readonly string[] | undefined {
  const done = new Set<string>();
  const way: string[] = [];
  const visit = (name: string): readonly string[] | undefined => {
    const from = way.indexOf(name);
    if (from >= 0) return [...way.slice(from), name];
    if (done.has(name)) return undefined;
    way.push(name);
    for (const other of byName.get(name)?.depends_on ?? []) {
      const circle = visit(other);
      if (circle !== undefined) return circle;
    }
    way.pop();
    done.add(name);
    return undefined;
  };
  for (const name of byName.keys()) {
    const circle = visit(name);
    if (circle !== undefined) return circle;
  }
  return undefined;
}

interface PlacedSteps {
  readonly steps: readonly Step[];
  readonly path: Path;
}

/** Names are unique over all steps of a module, nested ones too: outputs and the log are told apart by them. */
function checkSteps(lists: readonly PlacedSteps[], counter: { steps: number }, findings: Findings): void {
  const names = new Set<string>();
  const variables = new Map<string, string>();
  const visit = (step: Step, at: Path, depth: number): void => {
    counter.steps += 1;
    if (counter.steps === STEPS_PER_WORKFLOW + 1) {
      findings.refuse(at, `a workflow has at most ${STEPS_PER_WORKFLOW} steps, nested ones included`);
    }
    if (depth > STEP_NESTING_DEPTH) {
      findings.refuse(at, `steps are nested at most ${STEP_NESTING_DEPTH} deep`);
      return;
    }
    if (names.has(step.name)) findings.refuse([...at, "name"], `the step name "${step.name}" is used twice`);
    names.add(step.name);
    const variable = `${step.name.replaceAll(/[^A-Za-z0-9_]/g, "_")}_output`;
    const other = variables.get(variable);
    if (other !== undefined && other !== step.name) {
      findings.warn(
        [...at, "name"],
        `the output has the same name, ${variable}, as that of the step "${other}"`,
      );
    }
    variables.set(variable, step.name);
    if (depth > 1) checkNested(step, at, findings);
    if (step.type === "foreach" || step.type === "parallel-steps") {
      if (step.retry !== undefined)
        findings.refuse(
          [...at, "retry"],
          "stands on the steps that do the work, not on those that hold others",
        );
    }
    if (step.type === "foreach") visit(step.step, [...at, "step"], depth + 1);
    if (step.type === "parallel-steps") {
      for (const [position, child] of step.parallel_steps.entries()) {
        visit(child, [...at, "parallel_steps", position], depth + 1);
      }
    }
  };
  for (const { steps, path } of lists) {
    for (const [at, step] of steps.entries()) visit(step, [...path, at], 1);
    checkOrder(steps, path, "step", findings);
    checkGotos(steps, path, findings);
  }
}

/** Steps that others hold are started by these. */
function checkNested(step: Step, at: Path, findings: Findings): void {
  if (step.depends_on !== undefined)
    findings.refuse([...at, "depends_on"], "stands on steps of a module's own list, not on nested ones");
  for (const { goto, path } of gotosOf(step.decision)) {
    if (goto !== undefined)
      findings.refuse([...at, ...path, "goto"], "stands on steps of a module's own list, not on nested ones");
  }
}

function checkGotos(steps: readonly Step[], path: Path, findings: Findings): void {
  const names = new Set(steps.map(({ name }) => name));
  const graph = steps.some(({ depends_on = [] }) => depends_on.length > 0);
  for (const [at, step] of steps.entries()) {
    for (const { goto, path: inner } of gotosOf(step.decision)) {
      const place = [...path, at, ...inner, "goto"];
      if (goto === undefined) continue;
      if (goto !== END_OF_MODULE && !names.has(goto)) findings.refuse(place, `there is no step "${goto}"`);
      else if (graph) findings.warn(place, "steps that name what they wait for follow that alone, ignored");
    }
  }
}

/** Where a goto ends its module. */
const END_OF_MODULE = "_end";

function gotosOf(decision: Decision | undefined): { goto: string | undefined; path: Path }[] {
  if (decision === undefined) return [];
  const { cases, default: otherwise, conditions } = decision;
  return [
    ...Object.entries(cases).map(([value, { goto }]) => ({ goto, path: ["decision", "cases", value] })),
    { goto: otherwise?.goto, path: ["decision", "default"] },
    ...conditions.map(({ goto }, at) => ({ goto, path: ["decision", "conditions", at] })),
  ];
}

function nameTriggers(triggers: readonly ReadTrigger[], findings: Findings): readonly Trigger[] {
  const named = triggers.map(
    (trigger, at): Trigger => ({ ...trigger, name: trigger.name ?? `${trigger.type}-${at + 1}` }),
  );
  checkUnique(named, ["triggers"], findings);
  return named;
}
