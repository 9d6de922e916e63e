import type {
  Action,
  Definition,
  Dependencies,
  FlowModule,
  Hook,
  Param,
  Report,
  Step,
} from "../schema/types.ts";
import { hookSteps, inlineSteps, stepsOf } from "./module-steps.ts";

/** One module of a run: its steps, in order, and where they come from. */
export interface ProgramModule {
  readonly name: string;
  readonly workflow: string;
  readonly revision: number;
  readonly steps: readonly Step[];
  readonly byName: ReadonlyMap<string, Step>;
  /** Positions of the modules that must finish before this one starts. */
  readonly after: readonly number[];
  /** For each step, the positions of its dependencies; absent if each step waits for the previous one. */
  readonly waitsFor?: readonly (readonly number[])[];
  /** What is checked before its steps: its condition, parameters and dependencies. */
  readonly gate?: Gate;
  /** The run excludes it. */
  readonly excluded?: true;
  /** Handlers of the flow, which run when the module ends. */
  readonly handlers?: Pick<FlowModule, "on_success" | "on_error">;
  /** Files that become artifacts when the module succeeds. */
  readonly reports?: readonly Report[];
  /** Names without a value fail the module's steps. */
  readonly undefinedNames?: "fail";
}

/** What an executor checks before a module starts. */
export interface Gate {
  readonly condition?: string;
  /** Parameters as the flow declares them: templates. */
  readonly given: Readonly<Record<string, string>>;
  /** Parameters as the module declares them. */
  readonly params: readonly Param[];
  readonly dependencies?: Dependencies;
}

/** What a run executes: one module, or the modules of a flow. */
export interface Program {
  readonly modules: readonly ProgramModule[];
}

/** A module as a run pins it: the run keeps the revision that it started with. */
export interface PinnedModule {
  readonly name: string;
  readonly workflow: string;
  readonly revision: number;
  /** Position among the modules of the flow, for a module that is defined inside the flow. */
  readonly inline?: number;
  /** Set if the steps are a hook of the flow, before or after all modules. */
  readonly hook?: Hook;
}

/** A flow with modules, and the run's parameters, which may exclude some of the modules. */
export interface HoldingFlow {
  readonly definition: Definition;
  readonly params: Readonly<Record<string, string>>;
}

/** Builds the program of pinned modules from their definitions, in the same order, and from their flow. */
export function buildProgram(
  pinned: readonly PinnedModule[],
  definitions: readonly Definition[],
  holder?: HoldingFlow,
): Program {
  const flow = holder?.definition;
  const modules = pinned.map((module, index): ProgramModule => {
    const { hook } = module;
    const definition = definitions[index];
    const inFlow = hook === undefined ? flow?.modules.find(({ name }) => name === module.name) : undefined;
    const inline = module.inline === undefined ? undefined : definition?.modules[module.inline];
    const own = module.inline === undefined && hook === undefined ? definition : undefined;
    const steps =
      hook !== undefined ? hookSteps(flow, hook) : inline === undefined ? stepsOf(own) : inlineSteps(inline);
    const waitsFor = waitsOf(steps);
    const gate = gateOf(own, inFlow);
    return {
      name: module.name,
      workflow: module.workflow,
      revision: module.revision,
      steps,
      byName: new Map(everyStep(steps).map((step) => [step.name, step])),
      after: forerunnersOf(pinned, index, inFlow?.depends_on ?? []),
      ...(waitsFor === undefined ? {} : { waitsFor }),
      ...(gate === undefined ? {} : { gate }),
      ...handlersOf(inFlow),
      ...reportsOf(own),
      ...(own?.undefined === "fail" || flow?.undefined === "fail" ? { undefinedNames: "fail" as const } : {}),
      ...(holder !== undefined && hook === undefined && isExcluded(module.name, holder.params)
        ? { excluded: true }
        : {}),
    };
  });
  return { modules: [...modules, ...reportingModule(holder, modules)] };
}

/** A pseudo-module at the end of a flow: it records the flow's reports after all modules. */
function reportingModule(
  holder: HoldingFlow | undefined,
  modules: readonly ProgramModule[],
): ProgramModule[] {
  const { name = "", reports } = holder?.definition ?? {};
  if (reports === undefined) return [];
  const after = modules.map((_, index) => index);
  return [{ name: REPORTING, workflow: name, revision: 0, steps: [], byName: new Map(), after, reports }];
}

/** Not a valid name for a module in a workflow file. */
const REPORTING = "#reports";

const reportsOf = (own: Definition | undefined): Pick<ProgramModule, "reports"> =>
  own?.reports === undefined ? {} : { reports: own.reports };

/** `exclude_modules` lists full names, `fuzzy_exclude_modules` substrings, comma-separated. Reference 2.8. */
function isExcluded(name: string, params: HoldingFlow["params"]): boolean {
  const words = (param: string): string[] =>
    (params[param] ?? "")
      .split(",")
      .map((word) => word.trim())
      .filter((word) => word !== "");
  return (
    words("exclude_modules").includes(name) ||
    words("fuzzy_exclude_modules").some((part) => name.includes(part))
  );
}

/** All modules of a flow wait for the hooks before them; the hooks after them wait for all modules. */
function forerunnersOf(pinned: readonly PinnedModule[], index: number, named: readonly string[]): number[] {
  const hook = pinned[index]?.hook;
  if (hook === "post_scan_steps") return [...pinned.keys()].filter((other) => other !== index);
  const after = named.flatMap((name) => positionsOf(pinned, name));
  const before = hook === undefined ? pinned.findIndex((one) => one.hook === "pre_scan_steps") : -1;
  return before < 0 ? after : [before, ...after];
}

function positionsOf(named: readonly { readonly name: string }[], name: string): number[] {
  const position = named.findIndex((one) => one.name === name);
  return position < 0 ? [] : [position];
}

/** If any step declares dependencies, steps without dependencies wait for nothing. */
function waitsOf(steps: readonly Step[]): ProgramModule["waitsFor"] {
  if (steps.every(({ depends_on }) => depends_on === undefined || depends_on.length === 0)) return undefined;
  return steps.map((step) => (step.depends_on ?? []).flatMap((name) => positionsOf(steps, name)));
}

/** A module that runs without a flow received its parameters at the start. */
function gateOf(own: Definition | undefined, inFlow: FlowModule | undefined): Gate | undefined {
  const { condition } = inFlow ?? {};
  const given = inFlow?.params ?? {};
  const params = inFlow === undefined ? [] : (own?.params ?? []);
  const dependencies = own?.dependencies;
  const nothing = condition === undefined && params.length === 0 && Object.keys(given).length === 0;
  if (nothing && dependencies === undefined) return undefined;
  return {
    given,
    params,
    ...(condition === undefined ? {} : { condition }),
    ...(dependencies === undefined ? {} : { dependencies }),
  };
}

function handlersOf(inFlow: FlowModule | undefined): Pick<ProgramModule, "handlers"> {
  const { on_success = [], on_error = [] } = inFlow ?? {};
  return on_success.length + on_error.length === 0 ? {} : { handlers: { on_success, on_error } };
}

/** The handlers' actions for this outcome of the module. */
const actionsOf = ({ handlers }: ProgramModule, completed: boolean): readonly Action[] =>
  (completed ? handlers?.on_success : handlers?.on_error) ?? [];

/** Whether an executor is needed after the steps of a module. */
export const hasEnding = (module: ProgramModule, completed: boolean): boolean =>
  actionsOf(module, completed).length > 0 || (completed && module.reports !== undefined);

/** Returns all steps; children follow their container. */
export function everyStep(steps: readonly Step[]): Step[] {
  return steps.flatMap((step) => [step, ...everyStep(childrenOf(step))]);
}

function childrenOf(step: Step): readonly Step[] {
  if (step.type === "parallel-steps") return step.parallel_steps;
  if (step.type === "foreach") return [step.step];
  return [];
}

export function totalSteps(program: Program): number {
  return program.modules.reduce((sum, module) => sum + module.steps.length, 0);
}
