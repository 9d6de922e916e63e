import * as z from "zod";
import type { Ports } from "../../platform/ports.ts";
import type { ProgramModule } from "../engine/program.ts";
import { variableName } from "../expressions/variable-names.ts";
import type { FlowModule, Param, Step } from "../schema/types.ts";
import type { StepPaths } from "../steps/context.ts";
import { paramValues } from "../values/param-values.ts";
import { PlanValues } from "./dry-run-values.ts";
import { readOwnFile } from "./targets.ts";

export const plannedStep = z
  .object({
    order: z.int(),
    module: z.string(),
    name: z.string(),
    type: z.string(),
    parent: z.string().describe("The parent step, or empty"),
    depth: z.int(),
    will: z
      .enum(["run", "skip", "depends"])
      .describe("`depends`: on values that are known only during the run"),
    reason: z.string().describe("Reason why it is skipped, or what it depends on"),
    pre_condition: z.string(),
    items: z.int().nullable().describe("Items of a foreach, if they are known"),
    commands: z.array(z.string()).describe("Commands or code that would be executed, with secrets as `***`"),
    rendered: z.record(z.string(), z.unknown()).describe("Fields of the step with their values"),
  })
  .meta({ id: "PlannedStep" });

type PlannedStep = z.infer<typeof plannedStep>;

export type PlanDeps = Pick<Ports, "scripts" | "secrets" | "ids"> & {
  readonly paths: Pick<StepPaths, "workspacesDir">;
};

/** The context of a step. */
interface Around {
  readonly module: string;
  readonly parent: string;
  readonly depth: number;
  readonly loops: readonly string[];
  /** Whether the step's container runs. */
  readonly fate: Fate;
}

type Fate = Pick<PlannedStep, "will" | "reason">;

const RUNS: Fate = { will: "run", reason: "" };

const TEXT_MAX = 8_000;

const ENTRIES_MAX = 200;

/** Fields that have a property of their own in the plan, or are scripts that run later. */
const APART: ReadonlySet<string> = new Set([
  "name",
  "type",
  "step",
  "parallel_steps",
  "pre_condition",
  "exports",
  "on_success",
  "on_error",
  "decision",
]);

/** Plans the steps of a run in execution order, without executing them. */
export class PlannedSteps {
  readonly steps: PlannedStep[] = [];
  readonly #deps: PlanDeps;
  readonly #workspace: string;
  /** Names of values that earlier steps set, and prefixes of such names. */
  readonly #made = new Set<string>();
  readonly #beginnings: string[] = [];

  constructor(deps: PlanDeps, workspace: string) {
    this.#deps = deps;
    this.#workspace = workspace;
  }

  /** Adds a module; its own parameters override the values of the run. */
  async addModule(
    module: ProgramModule,
    inFlow: FlowModule | undefined,
    params: readonly Param[],
    run: {
      readonly values: Readonly<Record<string, unknown>>;
      readonly params: Readonly<Record<string, string>>;
      readonly target: string;
      readonly now: number;
    },
  ): Promise<void> {
    const outer = this.#valuesOver(run.values, []);
    const given = Object.fromEntries(
      Object.entries(inFlow?.params ?? {}).map(([name, text]) => [name, outer.text(text)]),
    );
    const paramSources = { params: { ...run.params, ...given }, target: run.target, now: run.now };
    const base = inFlow === undefined ? run.values : { ...run.values, ModuleName: module.name };
    const { values } = paramValues(inFlow === undefined ? [] : params, { ...base }, paramSources);
    let fate: Fate =
      module.excluded === true
        ? { will: "skip", reason: `the run excludes module ${module.name}` }
        : await this.#fateBy(inFlow?.condition, outer, `condition of module ${module.name}`);
    for (const step of module.steps) {
      await this.#add(step, values, { module: module.name, parent: "", depth: 0, loops: [], fate });
      if (fate.will === "run" && leadsElsewhere(step))
        fate = { will: "depends", reason: `on the decision of step ${step.name}` };
    }
  }

  #valuesOver(values: Readonly<Record<string, unknown>>, loops: readonly string[]): PlanValues {
    return new PlanValues(values, { made: this.#made, beginnings: this.#beginnings, loops });
  }

  async #add(step: Step, values: Readonly<Record<string, unknown>>, around: Around): Promise<void> {
    const scope = this.#valuesOver(values, around.loops);
    const own = await this.#fateBy(step.pre_condition, scope, "pre_condition");
    const fate = around.fate.will === "skip" || own.will === "run" ? around.fate : own;
    this.steps.push({
      order: this.steps.length + 1,
      module: around.module,
      name: step.name,
      type: step.type,
      parent: around.parent,
      depth: around.depth,
      ...fate,
      pre_condition: step.pre_condition ?? "",
      items: step.type === "foreach" ? await this.#itemsOf(step.input, scope) : null,
      commands: commandsOf(step).map((text) => this.#shown(text, scope)),
      rendered: this.#rendered(step, scope),
    });
    const inside = { ...around, parent: step.name, depth: around.depth + 1, fate };
    if (step.type === "parallel-steps")
      for (const child of step.parallel_steps) await this.#add(child, values, inside);
    if (step.type === "foreach")
      await this.#add(step.step, values, { ...inside, loops: [...around.loops, step.variable] });
    this.#beginnings.push(`${variableName(step.name)}_`);
    for (const name of Object.keys(step.exports)) this.#made.add(name);
    for (const { name } of [...step.on_success, ...step.on_error]) if (name) this.#made.add(name);
  }

  async #fateBy(condition: string | undefined, scope: PlanValues, what: string): Promise<Fate> {
    if (condition === undefined) return RUNS;
    const truth = await scope.isTrue(this.#deps, condition);
    if (truth.is === "true") return RUNS;
    if (truth.is === "false") return { will: "skip", reason: `${what} is false: ${condition}` };
    return { will: "depends", reason: `${what} ${truth.why}` };
  }

  async #itemsOf(input: string | readonly string[], scope: PlanValues): Promise<number | null> {
    if (typeof input !== "string") return input.length;
    const value = scope.value(input);
    if (value === undefined) return null;
    const list = Array.isArray(value) ? value : listIn(String(value));
    if (list !== undefined) return list.length;
    const path = String(value);
    const named = path.startsWith("/") ? path : `${this.#workspace}/${path}`;
    const file = await readOwnFile(this.#deps.paths.workspacesDir, named);
    if (file === undefined || file === "too large") return null;
    return file.content.split("\n").filter((line) => line.trim() !== "").length;
  }

  #rendered(step: Step, scope: PlanValues): Record<string, unknown> {
    const fields = Object.entries(step).filter(([field]) => !APART.has(field));
    return Object.fromEntries(fields.map(([field, value]) => [field, this.#renderedValue(value, scope)]));
  }

  #renderedValue(value: unknown, scope: PlanValues): unknown {
    if (typeof value === "string") return this.#shown(value, scope);
    if (Array.isArray(value))
      return value.slice(0, ENTRIES_MAX).map((entry) => this.#renderedValue(entry, scope));
    if (typeof value !== "object" || value === null) return value;
    const entries = Object.entries(value).slice(0, ENTRIES_MAX);
    return Object.fromEntries(entries.map(([name, entry]) => [name, this.#renderedValue(entry, scope)]));
  }

  #shown(text: string, scope: PlanValues): string {
    const shown = this.#deps.secrets.redact(scope.text(text));
    return shown.length > TEXT_MAX ? `${shown.slice(0, TEXT_MAX)} [truncated]` : shown;
  }
}

/** Whether the decision of a step has a `goto`: whether later steps run depends on it. */
function leadsElsewhere({ decision }: Step): boolean {
  if (decision === undefined) return false;
  const { cases, default: otherwise, conditions } = decision;
  return [...Object.values(cases), ...conditions, ...(otherwise === undefined ? [] : [otherwise])].some(
    ({ goto }) => goto !== undefined,
  );
}

function commandsOf(step: Step): readonly string[] {
  switch (step.type) {
    case "bash":
    case "remote-bash":
      return step.parallel_commands ?? step.commands ?? (step.command === undefined ? [] : [step.command]);
    case "function":
      return (
        step.parallel_functions ?? step.functions ?? (step.function === undefined ? [] : [step.function])
      );
    case "http":
      return [`${step.method} ${step.url}`];
    default:
      return [];
  }
}

function listIn(text: string): unknown[] | undefined {
  if (!text.trimStart().startsWith("[")) return undefined;
  try {
    const parsed: unknown = JSON.parse(text);
    return Array.isArray(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}
