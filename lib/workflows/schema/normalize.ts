import { checkDefaults, checkExpressions } from "./check-templates.ts";
import { readActions, type StepWork, withHandlers, workOfSteps } from "./handlers.ts";
import type { ReadReport, WorkflowParts } from "./inherit.ts";
import { STEP_NESTING_DEPTH, STEPS_PER_WORKFLOW } from "./limits.ts";
import type { Findings, Path } from "./problems.ts";
import type { IncompleteTrigger, ReadTrigger } from "./schema-triggers.ts";
import { type PlacedSteps, withUniqueNames } from "./step-names.ts";
import {
  type Decision,
  type Definition,
  type FlowModule,
  HOOKS,
  type Report,
  type Step,
  type Trigger,
  type WorkflowKind,
} from "./types.ts";

/**
 * Applies the rules that span several parts and returns the normalized form; the result is invalid if a problem was
 * reported.
 */
export function normalize(read: WorkflowParts, name: string, findings: Findings): Definition {
  const kind = read.kind ?? (read.modules !== undefined && read.steps === undefined ? "flow" : "module");
  checkKind(read, kind, findings);
  checkUnique(read.params, ["params"], findings);
  checkDefaults(read.params, findings);
  const lists = withUniqueNames(
    {
      steps: { steps: kind === "flow" ? [] : (read.steps ?? []), path: ["steps"] },
      pre: { steps: read.hooks?.pre_scan_steps ?? [], path: ["hooks", "pre_scan_steps"] },
      post: { steps: read.hooks?.post_scan_steps ?? [], path: ["hooks", "post_scan_steps"] },
    },
    findings,
  );
  const { steps } = lists.steps;
  const { steps: pre_scan_steps } = lists.pre;
  const { steps: post_scan_steps } = lists.post;
  const modules = (kind === "module" ? [] : (read.modules ?? [])).map((module, at) =>
    withUniqueStepNames(module, at, findings),
  );
  const counter = { steps: 0 };
  checkSteps(Object.values(lists), counter, findings);
  if (kind === "flow" && read.hooks !== undefined) {
    for (const [at, { name }] of modules.entries())
      if (isHookModule(name)) findings.refuse(["modules", at, "name"], `is the name of the flow's hooks`);
  }
  checkModules(modules, counter, findings);
  for (const [at, report] of read.reports.entries()) checkExpressions(report, ["reports", at], findings);
  const reports = completeReports(read.reports, findings);
  const work = workOfSteps([...pre_scan_steps, ...steps, ...post_scan_steps]);
  return {
    name,
    kind,
    description: read.description,
    tags: read.tags,
    hidden: read.hidden,
    params: read.params,
    triggers: nameTriggers(read.triggers, findings),
    steps: handled(steps, ["steps"], work, findings),
    modules: modules.map((module, at) => handledModule(module, at, findings)),
    ...(read.hooks !== undefined && {
      hooks: {
        pre_scan_steps: handled(pre_scan_steps, ["hooks", "pre_scan_steps"], work, findings),
        post_scan_steps: handled(post_scan_steps, ["hooks", "post_scan_steps"], work, findings),
      },
    }),
    ...(read.dependencies !== undefined && { dependencies: read.dependencies }),
    ...(kind === "module" && runnerOf(read, findings)),
    ...(reports.length > 0 && { reports }),
    ...preferencesOf(read, findings),
    ...(read.undefined !== undefined && { undefined: read.undefined }),
  };
}

function handled(steps: readonly Step[], path: Path, work: StepWork, { warn }: Findings): readonly Step[] {
  return steps.map((step, at) => withHandlers(step, [...path, at], work, warn));
}

function handledModule(module: FlowModule, at: number, findings: Findings): FlowModule {
  const { steps, on_success = [], on_error = [] } = module;
  const path = ["modules", at];
  const work = workOfSteps(steps ?? []);
  return {
    ...module,
    on_success: readActions(on_success, [...path, "on_success"], work, findings.warn),
    on_error: readActions(on_error, [...path, "on_error"], work, findings.warn),
    ...(steps !== undefined && { steps: handled(steps, [...path, "steps"], work, findings) }),
  };
}

/** The reference runs a workflow whose reports lack a path; these have no file to report. */
function completeReports(reports: readonly ReadReport[], findings: Findings): Report[] {
  return reports.flatMap(({ path, ...report }, at): Report[] => {
    if (path !== undefined) return [{ ...report, path }];
    findings.warn(["reports", at, "path"], "is missing: the report is ignored");
    return [];
  });
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
    warn(
      "disable_notifications",
      "has no effect: runs send no notifications; trigger a workflow by their events instead",
    );
  if (preferences.heuristics_check === "advanced")
    warn("heuristics_check", "advanced has the same effect as basic");
  if (preferences.repeat_wait_time !== undefined && preferences.repeat !== true)
    warn("repeat_wait_time", "has no effect without repeat");
  return Object.keys(preferences).length === 0 ? {} : { preferences };
}

function checkKind(read: WorkflowParts, kind: WorkflowKind, findings: Findings): void {
  const [own, other] = kind === "module" ? (["steps", "modules"] as const) : (["modules", "steps"] as const);
  const isEmpty = (read[own] ?? []).length === 0;
  if (isEmpty) findings.refuse([own], `a ${kind} requires at least one entry in ${own}`);
  if (read[other] === undefined) return;
  const message = `a ${kind} has ${own}, not ${other}`;
  if (isEmpty || read.kind === undefined) findings.refuse([other], message);
  else findings.warn([other], `${message}: ignored`);
}

function checkUnique(named: readonly { readonly name: string }[], path: Path, findings: Findings): void {
  const seen = new Set<string>();
  for (const [at, { name }] of named.entries()) {
    if (seen.has(name)) findings.refuse([...path, at, "name"], `the name "${name}" is used twice`);
    seen.add(name);
  }
}

function withUniqueStepNames(module: FlowModule, at: number, findings: Findings): FlowModule {
  if (module.steps === undefined) return module;
  const lists = { steps: { steps: module.steps, path: ["modules", at, "steps"] } };
  return { ...module, steps: withUniqueNames(lists, findings).steps.steps };
}

function checkModules(modules: readonly FlowModule[], counter: { steps: number }, findings: Findings): void {
  checkUnique(modules, ["modules"], findings);
  checkOrder(modules, ["modules"], "module", findings);
  for (const [at, each] of modules.entries()) {
    checkExpressions(each, ["modules", at], findings);
    if (each.steps === undefined) continue;
    checkSteps([{ steps: each.steps, path: ["modules", at, "steps"] }], counter, findings);
  }
}

interface Waiting {
  readonly name: string;
  readonly depends_on?: readonly string[];
}

/** Reports dependencies that do not exist, and cycles. */
function checkOrder(all: readonly Waiting[], path: Path, what: string, findings: Findings): void {
  const byName = new Map(all.map((each) => [each.name, each]));
  for (const [at, each] of all.entries()) {
    for (const [position, name] of (each.depends_on ?? []).entries()) {
      if (!byName.has(name))
        findings.refuse([...path, at, "depends_on", position], `unknown ${what} "${name}"`);
    }
  }
  const circle = circleIn(byName);
  if (circle === undefined) return;
  const at = all.findIndex(({ name }) => name === circle[0]);
  findings.refuse([...path, at, "depends_on"], `depends on itself: ${circle.join(" -> ")}`);
}

/** Names of a dependency cycle, with the first name repeated at the end. */
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

function checkSteps(lists: readonly PlacedSteps[], counter: { steps: number }, findings: Findings): void {
  const variables = new Map<string, string>();
  const visit = (step: Step, at: Path, depth: number): void => {
    counter.steps += 1;
    if (counter.steps === STEPS_PER_WORKFLOW + 1) {
      findings.refuse(at, `a workflow must have at most ${STEPS_PER_WORKFLOW} steps, including nested steps`);
    }
    if (depth > STEP_NESTING_DEPTH) {
      findings.refuse(at, `steps must be nested at most ${STEP_NESTING_DEPTH} levels deep`);
      return;
    }
    const variable = `${step.name.replaceAll(/[^A-Za-z0-9_]/g, "_")}_output`;
    const other = variables.get(variable);
    if (other !== undefined && other !== step.name) {
      findings.warn(
        [...at, "name"],
        `the output has the same name, ${variable}, as the output of the step "${other}"`,
      );
    }
    variables.set(variable, step.name);
    if (depth > 1) checkNested(step, at, findings);
    checkExpressions(step, at, findings);
    checkOptionalPairs(step, at, findings);
    if (step.type === "foreach" || step.type === "parallel-steps") {
      if (step.retry !== undefined)
        findings.refuse([...at, "retry"], "is only allowed on steps without nested steps");
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

/** Fields that have no effect without another field. */
function checkOptionalPairs(step: Step, at: Path, findings: Findings): void {
  if (step.decision !== undefined && !step.decision.switch && step.decision.conditions.length === 0)
    findings.warn([...at, "decision", "switch"], "is missing: the default applies");
  if (step.type !== "remote-bash") return;
  if (step.step_remote_file !== undefined && step.host_output_file === undefined)
    findings.warn([...at, "step_remote_file"], "has no effect without host_output_file");
  if (step.step_remote_file === undefined && step.host_output_file !== undefined)
    findings.warn([...at, "host_output_file"], "has no effect without step_remote_file");
}

/** Nested steps are started by their containers. */
function checkNested(step: Step, at: Path, findings: Findings): void {
  if (step.depends_on !== undefined) findings.refuse([...at, "depends_on"], "is not allowed on nested steps");
  for (const { goto, path } of gotosOf(step.decision)) {
    if (goto !== undefined) findings.refuse([...at, ...path, "goto"], "is not allowed on nested steps");
  }
}

function checkGotos(steps: readonly Step[], path: Path, findings: Findings): void {
  const names = new Set(steps.map(({ name }) => name));
  const graph = steps.some(({ depends_on = [] }) => depends_on.length > 0);
  for (const [at, step] of steps.entries()) {
    for (const { goto, path: inner } of gotosOf(step.decision)) {
      const gotoPath = [...path, at, ...inner, "goto"];
      if (goto === undefined) continue;
      if (goto !== END_OF_MODULE && !names.has(goto)) findings.refuse(gotoPath, `unknown step "${goto}"`);
      else if (graph) findings.warn(gotoPath, "has no effect on steps with depends_on, ignored");
    }
  }
}

/** The goto target that ends the module. */
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

function nameTriggers(
  triggers: readonly (ReadTrigger | IncompleteTrigger)[],
  findings: Findings,
): readonly Trigger[] {
  const names = new Set<string>();
  return triggers.flatMap((written, at): Trigger[] => {
    const trigger = written.type === "incomplete" ? written.instead : written;
    if (written.type === "incomplete") {
      const instead = trigger === undefined ? "the trigger is ignored" : "the trigger fires for every event";
      findings.warn(["triggers", at, written.field], `${written.message}: ${instead}`);
    }
    if (trigger === undefined) return [];
    const name = trigger.name ?? `${trigger.type}-${at + 1}`;
    if (names.has(name)) findings.refuse(["triggers", at, "name"], `the name "${name}" is used twice`);
    names.add(name);
    return [{ ...trigger, name }];
  });
}
