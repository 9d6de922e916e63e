import { STEP_NESTING_DEPTH, STEPS_PER_WORKFLOW } from "./limits.ts";
import type { Path } from "./problems.ts";
import type { ReadWorkflow } from "./schema.ts";
import type { ReadTrigger } from "./schema-triggers.ts";
import type { Definition, FlowModule, Step, Trigger, WorkflowKind } from "./types.ts";

/** Takes what the rules across parts of a workflow have to say. */
export interface Findings {
  refuse(path: Path, message: string): void;
  warn(path: Path, message: string): void;
}

/** Applies the rules that no single part can know, and gives the one form; worthless once something was refused. */
export function normalize(read: ReadWorkflow, name: string, findings: Findings): Definition {
  const kind = read.kind ?? (read.modules !== undefined && read.steps === undefined ? "flow" : "module");
  checkKind(read, kind, findings);
  checkUnique(read.params, ["params"], findings);
  const steps = read.steps ?? [];
  const modules: readonly FlowModule[] = read.modules ?? [];
  const counter = { steps: 0 };
  checkSteps(steps, ["steps"], counter, findings);
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
  };
}

function checkKind(read: ReadWorkflow, kind: WorkflowKind, findings: Findings): void {
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
  const all = new Set(modules.map((each) => each.name));
  const before = new Set<string>();
  for (const [at, each] of modules.entries()) {
    const path = ["modules", at];
    for (const [position, name] of each.depends_on.entries()) {
      if (!all.has(name)) {
        findings.refuse([...path, "depends_on", position], `there is no module "${name}"`);
      } else if (!before.has(name)) {
        findings.warn(
          [...path, "depends_on"],
          `"${name}" comes later: modules run in the order of the file for now`,
        );
      }
    }
    before.add(each.name);
    if (each.condition !== undefined)
      findings.warn([...path, "condition"], "is known but not carried out yet, ignored");
    if (each.steps !== undefined) checkSteps(each.steps, [...path, "steps"], counter, findings);
  }
}

/** Names are unique over all steps of a module, nested ones too: outputs and the log are told apart by them. */
function checkSteps(
  steps: readonly Step[],
  path: Path,
  counter: { steps: number },
  findings: Findings,
): void {
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
    if (step.type === "remote-bash" || step.type === "llm") {
      findings.warn(
        at,
        `${step.type} steps are stored and listed, but this release cannot run them: a run that reaches "${step.name}" fails`,
      );
    }
    if (step.type === "foreach") visit(step.step, [...at, "step"], depth + 1);
    if (step.type === "parallel-steps") {
      for (const [position, child] of step.parallel_steps.entries()) {
        visit(child, [...at, "parallel_steps", position], depth + 1);
      }
    }
  };
  for (const [at, step] of steps.entries()) visit(step, [...path, at], 1);
}

function nameTriggers(triggers: readonly ReadTrigger[], findings: Findings): readonly Trigger[] {
  const named = triggers.map(
    (trigger, at): Trigger => ({ ...trigger, name: trigger.name ?? `${trigger.type}-${at + 1}` }),
  );
  checkUnique(named, ["triggers"], findings);
  return named;
}
