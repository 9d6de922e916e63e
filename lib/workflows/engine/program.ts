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

/** One module of a run: its steps, in order, and where they were read from. */
export interface ProgramModule {
  readonly name: string;
  readonly workflow: string;
  readonly revision: number;
  readonly steps: readonly Step[];
  readonly byName: ReadonlyMap<string, Step>;
  /** Positions of the modules that have to be over before it begins. */
  readonly after: readonly number[];
  /** Of each step, positions of those that it waits for; absent where each waits for the one before it. */
  readonly waitsFor?: readonly (readonly number[])[];
  /** What is to be found out before its steps: whether it runs at all, and its parameters. */
  readonly gate?: Gate;
  /** The run was told to leave it out. */
  readonly excluded?: true;
  /** What the flow tells to do when it is over. */
  readonly handlers?: Pick<FlowModule, "on_success" | "on_error">;
  /** Files that become artifacts when it has succeeded. */
  readonly reports?: readonly Report[];
  /** Names without a value fail its steps. */
  readonly undefinedNames?: "fail";
}

/** What an executor finds out before a module begins. */
export interface Gate {
  readonly condition?: string;
  /** As the flow gives them: templates. */
  readonly given: Readonly<Record<string, string>>;
  /** As the module declares them. */
  readonly params: readonly Param[];
  readonly dependencies?: Dependencies;
}

/** What a run executes: one module, or those of a flow. */
export interface Program {
  readonly modules: readonly ProgramModule[];
}

/** Names of modules as a run pins them: the revision that it runs stays the one that it started with. */
export interface PinnedModule {
  readonly name: string;
  readonly workflow: string;
  readonly revision: number;
  /** Position among the modules of a flow whose steps stand in the flow itself. */
  readonly inline?: number;
  /** Steps that stand before or after all modules of a flow. */
  readonly hook?: Hook;
}

/** A flow that holds modules, and what its run was given, which may leave some of them out. */
export interface HoldingFlow {
  readonly definition: Definition;
  readonly params: Readonly<Record<string, string>>;
}

/** Builds the program of pinned modules from their definitions, in the same order, and the flow that holds them. */
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

/** Stands for the end of a flow: its reports are looked for when all of its modules are over. */
function reportingModule(
  holder: HoldingFlow | undefined,
  modules: readonly ProgramModule[],
): ProgramModule[] {
  const { name = "", reports } = holder?.definition ?? {};
  if (reports === undefined) return [];
  const after = modules.map((_, index) => index);
  return [{ name: REPORTING, workflow: name, revision: 0, steps: [], byName: new Map(), after, reports }];
}

/** No module that somebody wrote is called so. */
const REPORTING = "#reports";

const reportsOf = (own: Definition | undefined): Pick<ProgramModule, "reports"> =>
  own?.reports === undefined ? {} : { reports: own.reports };

/** `exclude_modules` has whole names, `fuzzy_exclude_modules` parts of them, with commas between. Reference 2.8. */
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

/** All modules of a flow wait for the hooks before them, and those after them for all. */
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

/** Where any step names others that it waits for, those that name none wait for nothing. */
function waitsOf(steps: readonly Step[]): ProgramModule["waitsFor"] {
  if (steps.every(({ depends_on }) => depends_on === undefined || depends_on.length === 0)) return undefined;
  return steps.map((step) => (step.depends_on ?? []).flatMap((name) => positionsOf(steps, name)));
}

/** A module that is run alone had its parameters from the start. */
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

/** What a module's handlers are told by, as one of its steps. */
const actionsOf = ({ handlers }: ProgramModule, completed: boolean): readonly Action[] =>
  (completed ? handlers?.on_success : handlers?.on_error) ?? [];

/** Whether an executor is asked once the steps of a module are over. */
export const hasEnding = (module: ProgramModule, completed: boolean): boolean =>
  actionsOf(module, completed).length > 0 || (completed && module.reports !== undefined);

/** All steps, nested ones after the step that holds them. */
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
