import type { Definition, Step } from "../definition/types.ts";
import { everyStep } from "../engine/program.ts";
import { parseTemplate } from "../templates/parse.ts";
import { lintShell } from "../templates/shell-lint.ts";
import { textsIn, undefinedNames } from "./lint-names.ts";

/** Findings told of one workflow, at most. */
const FINDINGS_MAX = 50;
const COMMAND_FIELDS: ReadonlySet<string> = new Set(["command", "commands", "parallel_commands"]);
const CHILD_FIELDS: ReadonlySet<string> = new Set(["step", "parallel_steps", "name", "type"]);

/**
 * What is odd about the templates of a workflow, one line each: those that do not parse (a run that comes to
 * them fails), values that a second interpreter would read as its syntax, and names that nothing gives a value.
 */
export function lintDefinition(definition: Definition): string[] {
  const findings: string[] = [];
  const { pre_scan_steps = [], post_scan_steps = [] } = definition.hooks ?? {};
  const ownSteps = [...pre_scan_steps, ...definition.steps, ...post_scan_steps];
  const all = [ownSteps, ...definition.modules.map((module) => module.steps ?? [])];
  const own = new Set(
    definition.params.filter(({ default: text }) => text?.includes("{{") === false).map(({ name }) => name),
  );
  for (const step of all.flatMap(everyStep)) findings.push(...lintStep(step, (root) => own.has(root)));
  for (const [at, report] of (definition.reports ?? []).entries())
    for (const text of textsIn(report))
      findings.push(...textProblems(text).map((message) => `reports[${at}]: ${message}`));
  findings.push(...undefinedNames(definition));
  return findings.slice(0, FINDINGS_MAX);
}

function lintStep(step: Step, trusted: (root: string) => boolean): string[] {
  const findings: string[] = [];
  for (const [field, value] of Object.entries(step)) {
    if (CHILD_FIELDS.has(field)) continue;
    for (const text of textsIn(value)) {
      const isCommand = COMMAND_FIELDS.has(field) && (step.type === "bash" || step.type === "remote-bash");
      for (const message of isCommand ? commandProblems(text, trusted) : textProblems(text))
        findings.push(`${step.name}.${field}: ${message}`);
    }
  }
  return findings;
}

function commandProblems(text: string, trusted: (root: string) => boolean): string[] {
  const unreadable = textProblems(text);
  return unreadable.length > 0 ? unreadable : lintShell(text, { trusted }).map(({ message }) => message);
}

function textProblems(text: string): string[] {
  try {
    parseTemplate(text);
    return [];
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
}
