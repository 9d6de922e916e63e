import { parseTemplate, type Template } from "../expressions/parse.ts";
import { renderScript } from "../expressions/render-script.ts";
import { lintShell } from "../expressions/shell-lint.ts";
import { EXECUTED_VARIABLES } from "../expressions/shell-readers.ts";
import { ExecutedValueError, TemplateError } from "../expressions/template-error.ts";
import { loopNames } from "../expressions/variable-names.ts";
import type { Findings, Path } from "./problems.ts";
import type { Action, Decision, Definition, RemoteRunnerConfig, Step } from "./types.ts";

/** Maximum number of values reported per text. */
const REPORTED_MAX = 5;

const REFERENCE_MAX = 60;

/**
 * Rejects commands and scripts in which a value reaches an interpreter: an inner shell, an awk program, `eval`. Text
 * of the workflow file, such as a param's default, is allowed here; a value given for such a param is checked at run
 * time.
 */
export function checkExecution(definition: Definition, findings: Findings): void {
  const own = new Map<string, string>();
  for (const { name, default: text, generator } of definition.params)
    if (text !== undefined && generator === undefined && !text.includes("{{")) own.set(name, text);
  const check = new ExecutionCheck(own, findings);
  const { steps, modules, hooks, runner, dependencies } = definition;
  check.steps(steps, ["steps"]);
  check.steps(hooks?.pre_scan_steps ?? [], ["hooks", "pre_scan_steps"]);
  check.steps(hooks?.post_scan_steps ?? [], ["hooks", "post_scan_steps"]);
  for (const [at, module] of modules.entries()) {
    const path = ["modules", at];
    check.script(module.condition, [...path, "condition"], []);
    check.actions(module.on_success ?? [], [...path, "on_success"], []);
    check.actions(module.on_error ?? [], [...path, "on_error"], []);
    check.steps(module.steps ?? [], [...path, "steps"]);
  }
  check.environment(runner?.config, ["runner_config"]);
  check.scripts(dependencies?.functions_conditions ?? [], ["dependencies", "functions_conditions"], []);
}

class ExecutionCheck {
  readonly #own: ReadonlyMap<string, string>;
  readonly #findings: Findings;

  constructor(own: ReadonlyMap<string, string>, findings: Findings) {
    this.#own = own;
    this.#findings = findings;
  }

  steps(steps: readonly Step[], path: Path): void {
    for (const [at, step] of steps.entries()) this.#step(step, [...path, at], []);
  }

  #step(step: Step, path: Path, loops: readonly string[]): void {
    this.script(step.pre_condition, [...path, "pre_condition"], loops);
    for (const [name, text] of Object.entries(step.exports))
      this.script(text, [...path, "exports", name], loops);
    this.actions(step.on_success, [...path, "on_success"], loops);
    this.actions(step.on_error, [...path, "on_error"], loops);
    if (step.decision !== undefined) this.#decision(step.decision, [...path, "decision"], loops);
    switch (step.type) {
      case "bash":
      case "remote-bash":
        this.#command(step.command, [...path, "command"], loops);
        this.#commands(step.commands ?? [], [...path, "commands"], loops);
        this.#commands(step.parallel_commands ?? [], [...path, "parallel_commands"], loops);
        this.environment(step.step_runner_config, [...path, "step_runner_config"]);
        break;
      case "function":
        this.script(step.function, [...path, "function"], loops);
        this.scripts(step.functions ?? [], [...path, "functions"], loops);
        this.scripts(step.parallel_functions ?? [], [...path, "parallel_functions"], loops);
        break;
      case "parallel-steps":
        for (const [at, child] of step.parallel_steps.entries())
          this.#step(child, [...path, "parallel_steps", at], loops);
        break;
      case "foreach":
        this.script(step.variable_pre_process, [...path, "variable_pre_process"], [...loops, step.variable]);
        this.#step(step.step, [...path, "step"], [...loops, step.variable]);
        break;
      default:
    }
  }

  actions(actions: readonly Action[], path: Path, loops: readonly string[]): void {
    for (const [at, { condition, command, functions }] of actions.entries()) {
      this.script(condition, [...path, at, "condition"], loops);
      this.#command(command, [...path, at, "command"], loops);
      this.scripts(functions ?? [], [...path, at, "functions"], loops);
    }
  }

  #decision({ cases, default: otherwise, conditions }: Decision, path: Path, loops: readonly string[]): void {
    const all: [Path, { commands: readonly string[]; functions: readonly string[] }][] = [
      ...Object.entries(cases).map(([value, one]): [Path, typeof one] => [[...path, "cases", value], one]),
      ...conditions.map((one, at): [Path, typeof one] => [[...path, "conditions", at], one]),
    ];
    if (otherwise !== undefined) all.push([[...path, "default"], otherwise]);
    for (const [path, { commands, functions }] of all) {
      this.#commands(commands, [...path, "commands"], loops);
      this.scripts(functions, [...path, "functions"], loops);
    }
    for (const [at, condition] of conditions.entries())
      this.script(condition.if, [...path, "conditions", at, "if"], loops);
  }

  /** Programs execute the value of `BASH_ENV` and similar variables. */
  environment(config: RemoteRunnerConfig | undefined, path: Path): void {
    for (const [name, text] of Object.entries(config?.env ?? {})) {
      if (EXECUTED_VARIABLES.has(name) && text.includes("{{"))
        this.#findings.refuse(
          [...path, "env", name],
          `programs execute the value of ${name}: write it without {{ }}`,
        );
    }
  }

  #commands(texts: readonly string[], path: Path, loops: readonly string[]): void {
    for (const [at, text] of texts.entries()) this.#command(text, [...path, at], loops);
  }

  #command(text: string | undefined, path: Path, loops: readonly string[]): void {
    if (text === undefined) return;
    const template = parsed(text, loops);
    if (template === undefined) return;
    try {
      const { errors } = lintShell(template, this.#own);
      for (const { message, offset } of errors.slice(0, REPORTED_MAX))
        this.#refuse(path, text, message, offset);
    } catch (error) {
      if (!(error instanceof TemplateError)) throw error;
      this.#findings.refuse(path, error.message);
    }
  }

  scripts(texts: readonly string[], path: Path, loops: readonly string[]): void {
    for (const [at, text] of texts.entries()) this.script(text, [...path, at], loops);
  }

  /** Checks the commands in the calls of a script. */
  script(text: string | undefined, path: Path, loops: readonly string[]): void {
    const template =
      text?.includes("{{") === true || text?.includes("[[") === true ? parsed(text, loops) : undefined;
    if (text === undefined || template === undefined) return;
    try {
      renderScript(template, (root) => this.#own.get(root) ?? "0", {
        trusted: (root) => this.#own.has(root),
      });
    } catch (error) {
      if (error instanceof ExecutedValueError) this.#refuse(path, text, error.message, error.offset);
    }
  }

  #refuse(path: Path, text: string, message: string, offset: number): void {
    const reference = /^(?:\{\{.*?\}\}|\[\[.*?\]\])/s.exec(text.slice(offset))?.[0] ?? "";
    this.#findings.refuse(path, `${reference.slice(0, REFERENCE_MAX)}: ${message}`);
  }
}

/** Undefined if the template cannot be parsed; that error is reported with the other templates. */
function parsed(text: string, loops: readonly string[]): Template | undefined {
  try {
    return parseTemplate(text, { loopVariables: loopNames(loops) });
  } catch {
    return undefined;
  }
}
