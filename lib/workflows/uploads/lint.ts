import { everyStep } from "../engine/program.ts";
import { parseTemplate } from "../expressions/parse.ts";
import { lintShell } from "../expressions/shell-lint.ts";
import type { Definition, Step } from "../schema/types.ts";
import { textsIn, undefinedNames } from "./lint-names.ts";

/** Maximum number of findings reported per workflow. */
const FINDINGS_MAX = 50;
const COMMAND_FIELDS: ReadonlySet<string> = new Set(["command", "commands", "parallel_commands"]);
const CHILD_FIELDS: ReadonlySet<string> = new Set(["step", "parallel_steps", "name", "type"]);

/**
 * Lints the templates of a workflow, one line per finding: templates that do not parse (a run that reaches them
 * fails), values that a second interpreter would read as its syntax, and undefined names.
 */
export function lintDefinition(definition: Definition): string[] {
  const findings: string[] = [];
  const { pre_scan_steps = [], post_scan_steps = [] } = definition.hooks ?? {};
  const ownSteps = [...pre_scan_steps, ...definition.steps, ...post_scan_steps];
  const all = [ownSteps, ...definition.modules.map((module) => module.steps ?? [])];
  const own = new Map<string, string>();
  for (const { name, default: text } of definition.params)
    if (text?.includes("{{") === false) own.set(name, text);
  for (const step of all.flatMap(everyStep)) findings.push(...lintStep(step, own));
  for (const [at, report] of (definition.reports ?? []).entries())
    for (const text of textsIn(report))
      findings.push(...textProblems(text).map((message) => `reports[${at}]: ${message}`));
  for (const { name, generator = "", default: text } of definition.params) {
    const used = /^\s*(?:(execCmd)\s*\(|(getEnvVar)\s*\([^,]*$)/.exec(generator)?.slice(1).join("");
    const otherwise = used === "getEnvVar" ? "; otherwise it is empty" : "";
    if (used !== undefined && text === undefined)
      findings.push(
        `params.${name}.generator: ${used} is not available: give the param a default or a value${otherwise}`,
      );
  }
  findings.push(...undefinedNames(definition));
  return findings.slice(0, FINDINGS_MAX);
}

function lintStep(step: Step, own: ReadonlyMap<string, string>): string[] {
  const findings: string[] = [];
  for (const [field, value] of Object.entries(step)) {
    if (CHILD_FIELDS.has(field)) continue;
    for (const text of textsIn(value)) {
      const isCommand = COMMAND_FIELDS.has(field) && (step.type === "bash" || step.type === "remote-bash");
      for (const message of isCommand ? commandProblems(text, own) : textProblems(text))
        findings.push(`${step.name}.${field}: ${message}`);
    }
  }
  return findings;
}

function commandProblems(text: string, own: ReadonlyMap<string, string>): string[] {
  const unreadable = textProblems(text);
  if (unreadable.length > 0) return unreadable;
  try {
    return lintShell(text, own).warnings.map(({ message }) => message);
  } catch {
    // A command that cannot be analysed is an error of the definition.
    return [];
  }
}

/** The reference renders these tags if the text also contains a `{{`. */
const TAG = /\{%-?\s*(?:if|elif|else|endif|for|endfor|set|with|include|macro|filter)\b/;

function textProblems(text: string): string[] {
  try {
    parseTemplate(text);
    return text.includes("{{") && TAG.test(text)
      ? ["template tags such as {% if %} are not supported: use a pre_condition or a script"]
      : [];
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
}
