import { ApiError } from "../../errors.ts";
import { composeEvents, type EventDeps } from "../../events/publish.ts";
import type { Commit } from "../../platform/outbox.ts";
import type { Ports } from "../../platform/ports.ts";
import type { Definition, Param } from "../definition/types.ts";
import { type Definitions, findWorkflow } from "../definitions/store.ts";
import { type HistoryEntry, replay } from "../engine/history.ts";
import { buildProgram, type PinnedModule, totalSteps } from "../engine/program.ts";
import { parseTemplate } from "../templates/parse.ts";
import { renderText } from "../templates/text.ts";
import { builtinValues } from "./builtins.ts";
import { runMark } from "./listed.ts";
import { CONDUCT_QUEUE } from "./messages.ts";
import type { Numbers } from "./numbers.ts";
import { historyKey, historyTable, runKey, runsTable, type StoredRun, type TriggerType } from "./table.ts";
import { BASE_VALUES, type BaseValues, keepValue, valueWrite } from "./values.ts";
import { workspaceName } from "./workspace.ts";

export interface RunRequest {
  readonly runId: string;
  readonly workflow: string;
  /** The newest one where it is not given. */
  readonly revision?: number;
  readonly target: string;
  readonly params: Readonly<Record<string, string>>;
  readonly workspace?: string;
  readonly triggerType: TriggerType;
  readonly triggerName?: string;
  readonly eventId?: string;
  readonly groupId?: string;
  readonly priority?: string;
  readonly hop?: number;
  /** Further values that the run's templates may name. */
  readonly values?: Readonly<Record<string, unknown>>;
}

export type CreateDeps = Omit<EventDeps, "outbox"> &
  Pick<Ports, "tables"> & {
    readonly definitions: Definitions;
    readonly runNumbers: Numbers;
    readonly workspacesDir: string;
  };

/** Longest target of a run, characters. */
const TARGET_MAX_LENGTH = 4096;
/** A parameter as it is shown with its run, characters; templates see all of it. */
const SHOWN_PARAM_LENGTH = 1_000;

/**
 * What has to be committed to make a run: its row, its mark, its values and the message that starts it. A run that
 * cannot start (a required parameter is missing, a module of a triggered flow is gone) is made all the same,
 * as one that failed, with the reason. Throws `not_found` and `bad_request` for a workflow that is not there.
 */
export async function composeRun(
  deps: CreateDeps,
  request: RunRequest,
): Promise<{ commit: Commit; run: StoredRun }> {
  const revision = request.revision ?? (await findWorkflow(deps, request.workflow)).revision;
  const definition = await deps.definitions.get(request.workflow, revision);
  const pinned = await pinFor(deps, request, definition, revision);
  const program = buildProgram(pinned.modules, pinned.definitions);
  const now = new Date(deps.clock.now()).toISOString();
  const workspace = workspaceName(
    request.workspace || request.params["space_name"] || request.target || definition.name,
  );
  const builtins = builtinValues({
    ...request,
    workspace,
    workspacesDir: deps.workspacesDir,
    definition,
    now,
  });
  const { values, params, trusted, problem } = paramValues(
    definition.params,
    { ...request.values, ...builtins },
    request,
  );
  const number = await deps.runNumbers.next();
  const tooLong =
    request.target.length > TARGET_MAX_LENGTH
      ? `target: longer than ${TARGET_MAX_LENGTH} characters`
      : undefined;
  const failed = pinned.problem ?? tooLong ?? problem;
  const entries: HistoryEntry[] =
    failed === undefined ? [] : [{ type: "run.finished", status: "failed", error: failed }];
  const run: StoredRun = {
    ...runKey(request.runId),
    run_id: request.runId,
    number,
    workflow_name: definition.name,
    workflow_kind: definition.kind,
    modules: pinned.modules,
    target: request.target.slice(0, TARGET_MAX_LENGTH),
    params: shownParams(params),
    status: failed === undefined ? "pending" : "failed",
    workspace,
    started_at: null,
    completed_at: failed === undefined ? null : now,
    error_message: failed ?? "",
    created_at: now,
    updated_at: now,
    trigger_type: request.triggerType,
    trigger_name: request.triggerName ?? "",
    event_id: request.eventId ?? "",
    run_group_id: request.groupId ?? request.runId.slice(0, 8),
    total_steps: totalSteps(program),
    completed_steps: 0,
    priority: request.priority ?? "normal",
    hop: request.hop ?? 0,
    state: replay(entries),
    begun: {},
    version: 0,
    ...(failed === undefined ? { active: "1", moved_at: now } : {}),
  };
  const kept = await keepValue(deps, request.runId, { values, trusted } satisfies BaseValues);
  const failure = failed === undefined ? undefined : await composeEvents(deps, [failedEvent(run, failed)]);
  return {
    run,
    commit: {
      writes: [
        { op: "put", table: runsTable, item: run, when: [["pk", "missing"]] },
        runMark(run),
        valueWrite(request.runId, BASE_VALUES, kept),
        ...(failed === undefined
          ? []
          : [
              {
                op: "put",
                table: historyTable,
                item: { ...historyKey(request.runId, 0), at: now, entries },
              } as const,
            ]),
        ...(failure?.writes ?? []),
      ],
      publish: failure?.publish ?? [],
      send: failed === undefined ? [startMessage(request.runId)] : [],
    },
  };
}

/** What tells the conductor to begin. */
export function startMessage(runId: string) {
  const body = JSON.stringify({ run_id: runId, input: { type: "start" } });
  return { queue: CONDUCT_QUEUE, messages: [{ body, groupId: runId, deduplicationId: `start:${runId}` }] };
}

function failedEvent(run: StoredRun, error: string) {
  return {
    topic: "run.failed",
    name: `${run.workflow_name}-failed`,
    source: "executor",
    data_type: "scan",
    workspace: run.workspace,
    run_id: run.run_id,
    workflow_name: run.workflow_name,
    hop: run.hop + 1,
    data: { scan_id: run.run_id, target: run.target, duration_ms: 0, error },
  };
}

interface Pinned {
  readonly modules: readonly PinnedModule[];
  readonly definitions: readonly Definition[];
  readonly problem?: string;
}

/** Who starts a run by hand is told what is wrong with its flow; what an event triggers becomes a failed run. */
async function pinFor(
  deps: CreateDeps,
  request: RunRequest,
  definition: Definition,
  revision: number,
): Promise<Pinned> {
  try {
    return await pinModules(deps, definition, revision);
  } catch (error) {
    if (request.eventId === undefined || !(error instanceof ApiError)) throw error;
    const own = { name: definition.name, workflow: definition.name, revision };
    return { modules: [own], definitions: [definition], problem: error.message };
  }
}

async function pinModules(deps: CreateDeps, definition: Definition, revision: number): Promise<Pinned> {
  if (definition.kind === "module") {
    return {
      modules: [{ name: definition.name, workflow: definition.name, revision }],
      definitions: [definition],
    };
  }
  const modules: PinnedModule[] = [];
  const definitions: Definition[] = [];
  for (const [index, module] of definition.modules.entries()) {
    if (module.steps !== undefined) {
      modules.push({ name: module.name, workflow: definition.name, revision, inline: index });
      definitions.push(definition);
      continue;
    }
    const head = await findWorkflow(deps, moduleName(module.path ?? module.name));
    if (head.kind !== "module") {
      throw new ApiError(
        "bad_request",
        `modules: ${module.name} is a flow, only modules may stand in a flow`,
      );
    }
    modules.push({ name: module.name, workflow: head.name, revision: head.revision });
    definitions.push(await deps.definitions.get(head.name, head.revision));
  }
  return { modules, definitions };
}

/** `common/enum-ports.yaml` names the stored workflow `enum-ports`. */
function moduleName(path: string): string {
  return (path.split("/").at(-1) ?? path).replace(/\.ya?ml$/, "");
}

interface ParamValues {
  readonly values: Record<string, unknown>;
  readonly params: Record<string, string>;
  readonly trusted: readonly string[];
  /** Why the run cannot start. */
  readonly problem?: string;
}

/** Reference 2.2: what was given, else the default (which may name earlier ones), else missing when required. */
function paramValues(
  params: readonly Param[],
  base: Record<string, unknown>,
  request: RunRequest,
): ParamValues {
  const values: Record<string, unknown> = { ...base, ...request.params };
  const given: Record<string, string> = { ...request.params };
  const trusted: string[] = [];
  const problems: string[] = [];
  for (const param of params) {
    const sent = sentValue(param, request);
    const text = sent === "" ? defaultValue(param, values, problems) : sent;
    if (text === undefined || text === "") {
      if (param.required) problems.push(`required parameter missing: ${param.name}`);
      if (text === undefined) continue;
    }
    given[param.name] = text;
    if (sent === "" && param.default?.includes("{{") === false) trusted.push(param.name);
    values[param.name] = param.type === "bool" ? text.toLowerCase() === "true" || text === "1" : text;
  }
  const [problem] = problems;
  return { values, params: given, trusted, ...(problem === undefined ? {} : { problem }) };
}

function sentValue({ name }: Param, { params, target }: RunRequest): string {
  const sent = Object.hasOwn(params, name) ? (params[name] ?? "") : "";
  return sent === "" && name.toLowerCase() === "target" ? target : sent;
}

function defaultValue(param: Param, values: Record<string, unknown>, problems: string[]): string | undefined {
  if (param.default === undefined) return undefined;
  try {
    return renderText(parseTemplate(param.default), values);
  } catch (error) {
    problems.push(
      `default of parameter ${param.name}: ${error instanceof Error ? error.message : String(error)}`,
    );
    return undefined;
  }
}

function shownParams(params: Readonly<Record<string, string>>): Record<string, string> {
  const cut = (text: string): string =>
    text.length > SHOWN_PARAM_LENGTH ? `${text.slice(0, SHOWN_PARAM_LENGTH)} [truncated]` : text;
  return Object.fromEntries(Object.entries(params).map(([name, text]) => [name, cut(text)]));
}
