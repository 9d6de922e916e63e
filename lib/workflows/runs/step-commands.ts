import { COMMAND_SOURCE } from "../../events/publish.ts";
import type { BusEntry } from "../../platform/bus.ts";
import type { Ports } from "../../platform/ports.ts";
import { childKey, ITEMS_PER_BATCH } from "../engine/containers.ts";
import type { RunState } from "../engine/history.ts";
import type { Program, ProgramModule } from "../engine/program.ts";
import { isContainer, type StepRequestEntry, stepAt } from "../engine/walk.ts";
import { isGiven, type NeededName } from "../expressions/parse.ts";
import { loopNames } from "../expressions/variable-names.ts";
import { hopToken } from "../installation/hop-tokens.ts";
import type { ForeachStep, Step } from "../schema/types.ts";
import { executionTargetOf } from "../steps/execution-target.ts";
import { commandWith, type LoopPosition, STEP_REQUESTED, type StepWork } from "../steps/messages.ts";
import { type NeededNames, neededOf, outputName, stepNames } from "../values/needed-names.ts";
import { loadValueRefs, type StoredValueRef } from "../values/stored-values.ts";
import { workspaceKey, workspacesTable } from "../workspaces/table.ts";
import { rootCauseOf, type StoredRun } from "./table.ts";

/** Maximum number of batches or items of a foreach whose outputs are combined. */
const OUTPUTS_SHOWN_MAX = 500;

/**
 * Returns the bus entries that request steps, with everything that the executors need. `readTailItems` are values that are
 * about to be committed. Reads the values that the steps name, and stores large ones in blobs.
 */
export async function commandEntries(
  deps: CommandDeps,
  run: CommandedRun,
  state: RunState,
  program: Program,
  requests: readonly StepRequestEntry[],
  fresh: Fresh = {},
): Promise<BusEntry[]> {
  let layers = fresh.layers === undefined ? undefined : Promise.resolve(fresh.layers);
  return Promise.all(
    requests.map(async (request): Promise<BusEntry> => {
      const module = program.modules[request.module];
      const step = stepAt(program, request);
      if (module === undefined || step === undefined) throw new Error(`unknown step: ${request.step}`);
      const target = executionTargetOf(step, request);
      const command = { type: request.step_type, execution_target: target, run_id: run.run_id, request };
      const ofFlow = run.workflow_kind === "flow";
      const own = ofFlow ? { ModuleName: { json: JSON.stringify(module.name) } } : {};
      const values = { ...own, ...fresh.values };
      const work = await workOf(deps, run, { state, module, step, request, ofFlow, fresh: values });
      if (target === "workspace" && deps.sharesWorkspaces) layers ??= readLayers(deps, run.workspace);
      const shared = target === "workspace" && deps.sharesWorkspaces ? { layers: (await layers) ?? [] } : {};
      const detail = await commandWith(deps, command, { ...work, ...shared });
      return { source: COMMAND_SOURCE, detailType: STEP_REQUESTED, detail: { ...detail } };
    }),
  );
}

type CommandedRun = Pick<
  StoredRun,
  | "run_id"
  | "workflow_name"
  | "workflow_kind"
  | "workspace"
  | "params"
  | "hop"
  | "root_cause"
  | "event_id"
  | "unlogged"
>;

type CommandDeps = Pick<Ports, "tables" | "blobs" | "clock"> & {
  /** Whether steps of a run may be executed on several machines. */
  readonly sharesWorkspaces: boolean;
  readonly undefinedNames: "empty" | "fail";
};

/** The values committed together with the request for a step. */
interface Fresh {
  readonly values?: Readonly<Record<string, StoredValueRef>>;
  readonly layers?: readonly string[] | undefined;
}

async function readLayers(deps: Pick<Ports, "tables">, workspace: string): Promise<readonly string[]> {
  return (await deps.tables.get(workspacesTable, workspaceKey(workspace)))?.layers ?? [];
}

interface Wanted {
  readonly state: RunState;
  readonly module: ProgramModule;
  readonly step: Step;
  readonly request: StepRequestEntry;
  /** Whether the module belongs to a flow. */
  readonly ofFlow: boolean;
  readonly fresh: Readonly<Record<string, StoredValueRef>>;
}

async function workOf(deps: CommandDeps, run: CommandedRun, wanted: Wanted): Promise<StepWork> {
  const { step, request, fresh } = wanted;
  const loops = loopsAround(wanted);
  const batch = batchOf(wanted);
  const variables = loops.map(({ variable }) => variable);
  if (batch !== undefined) variables.push(batch.variable);
  const children = request.phase === "leave" ? childrenOf(wanted) : undefined;
  const names = [...stepNames(step, variables).values, ...gateNames(step), ...(children?.outputs ?? [])];
  const holder = wanted.ofFlow ? wanted.module.name : undefined;
  const { kept, bases, trusted } = await loadValueRefs(deps, run.run_id, names, fresh, holder);
  const deadline = deadlineAround(wanted);
  const absent = absentNames(step, variables, bases === undefined ? kept : {});
  return {
    workflow_name: run.workflow_name,
    workspace: run.workspace,
    hop: run.hop,
    root_cause: rootCauseOf(run),
    hop_token: await hopToken(deps, { run_id: run.run_id, hop: run.hop, root_cause: rootCauseOf(run) }),
    ...(run.unlogged === true ? { unlogged: true } : {}),
    ...(deps.undefinedNames === "fail" || wanted.module.undefinedNames === "fail"
      ? { undefined_names: "fail" as const }
      : {}),
    ...(absent === undefined ? {} : { absent }),
    step,
    values: kept,
    ...(bases === undefined ? {} : { bases }),
    trusted,
    loops,
    ...(deadline === undefined ? {} : { deadline }),
    ...(batch === undefined ? {} : { batch }),
    ...(children === undefined ? {} : { children }),
    ...(request.phase === "gate" ? { given: Object.keys(run.params) } : {}),
    ...(request.phase === "handlers" ? { ended: endOf(wanted) } : {}),
  };
}

/**
 * The missing names that executors log or fail on. Computed here, where step objects are stable and results are cached.
 */
function absentNames(
  step: Step,
  variables: readonly string[],
  kept: Readonly<Record<string, StoredValueRef>>,
): NeededNames | undefined {
  const needed = neededOf(step, loopNames(variables));
  const isAbsent = (name: NeededName): boolean => !isGiven(name, (spelling) => Object.hasOwn(kept, spelling));
  const [condition, work] = [needed.condition.filter(isAbsent), needed.work.filter(isAbsent)];
  return condition.length + work.length === 0 ? undefined : { condition, work };
}

function endOf({ state, request }: Wanted): NonNullable<StepWork["ended"]> {
  const error = state.modules[request.module]?.error;
  return error === undefined ? {} : { error };
}

/** Names that a gate reads besides those in its texts: parameters of the run take precedence over defaults. */
function gateNames(step: Step): string[] {
  if (step.type !== "function" || step.gate === undefined) return [];
  const { params, dependencies } = step.gate;
  return ["Target", ...[...params, ...(dependencies?.variables ?? [])].map(({ name }) => name)];
}

/** The containers around a step, innermost first. */
function* around({ state, module, request }: Wanted) {
  for (let key = request.parent; key !== null; ) {
    const frame = state.frames[key];
    const step = frame === undefined ? undefined : module.byName.get(frame.step);
    if (frame === undefined || step === undefined) return;
    yield { key, frame, step };
    key = frame.parent;
  }
}

function loopsAround(wanted: Wanted): LoopPosition[] {
  const positions = (wanted.request.key.split("#")[1] ?? "")
    .split(".")
    .filter((part) => part !== "")
    .map(Number);
  const loops: LoopPosition[] = [];
  // The position of a batch is that of its first item; its executor iterates over that loop itself.
  let own = wanted.request.items !== undefined;
  for (const { key, step } of around(wanted)) {
    if (step.type !== "foreach") continue;
    const index = positions.pop() ?? 0;
    if (!own) loops.unshift({ variable: step.variable, foreach_key: key, index });
    own = false;
  }
  return loops;
}

function batchOf(wanted: Wanted): StepWork["batch"] {
  if (wanted.request.items === undefined) return undefined;
  for (const { key, frame, step } of around(wanted)) {
    if (step.type === "foreach")
      return { variable: step.variable, foreach_key: key, parallel: frame.children?.parallel ?? 1 };
  }
  throw new Error(`a batch without a foreach: ${wanted.request.key}`);
}

function deadlineAround(wanted: Wanted): number | undefined {
  const deadlines = [...around(wanted)].flatMap(({ frame }) => frame.children?.deadline ?? []);
  return deadlines.length === 0 ? undefined : Math.min(...deadlines);
}

function childrenOf({ state, step, request }: Wanted): StepWork["children"] {
  const children = state.frames[request.key]?.children;
  return {
    failed: children?.failed ?? 0,
    ...(children?.error === undefined ? {} : { error: children.error }),
    ...(children?.deadline === undefined ? {} : { deadline: children.deadline }),
    outputs:
      step.type === "parallel-steps"
        ? step.parallel_steps.map((child) =>
            outputName(child.name, childKey(request.key, child.name, undefined)),
          )
        : batchNames(step as ForeachStep, request.key, children?.total ?? 0),
  };
}

function batchNames({ step }: ForeachStep, key: string, total: number): string[] {
  const size = isContainer(step) ? 1 : ITEMS_PER_BATCH;
  const count = Math.min(Math.ceil(total / size), OUTPUTS_SHOWN_MAX);
  return Array.from({ length: count }, (_, index) =>
    outputName(step.name, childKey(key, step.name, index * size)),
  );
}
