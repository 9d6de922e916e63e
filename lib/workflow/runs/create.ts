import { composeEvents, type EventDeps } from "../../events/publish.ts";
import { ApiError } from "../../errors.ts";
import type { Ports } from "../../platform/ports.ts";
import type { Commit } from "../../platform/outbox.ts";
import type { Definition, Param } from "../definition/types.ts";
import { type Definitions, findWorkflow } from "../definitions/store.ts";
import { NEW_RUN } from "../engine/history.ts";
import { buildProgram, type PinnedModule, totalSteps } from "../engine/program.ts";
import { parseTemplate } from "../templates/parse.ts";
import { renderText } from "../templates/text.ts";
import { builtinValues } from "./builtins.ts";
import type { Numbers } from "./numbers.ts";
import { RUN_LIST, runKey, runsTable, type StoredRun, type TriggerType } from "./table.ts";
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

export const CONDUCT_QUEUE = "conduct";

/**
 * What has to be committed to make a run: its row, its values and the message that starts it. A run that
 * cannot start (a required parameter is missing) is made all the same, as one that failed, with the reason.
 * Throws `not_found` for an unknown workflow.
 */
export async function composeRun(deps: CreateDeps, request: RunRequest): Promise<{ commit: Commit; run: StoredRun }> {
  const revision = request.revision ?? (await findWorkflow(deps, request.workflow)).revision;
  const definition = await deps.definitions.get(request.workflow, revision);
  const pinned = await pinModules(deps, definition, revision);
  const program = buildProgram(pinned.modules, pinned.definitions);
  const now = new Date(deps.clock.now()).toISOString();
  const workspace = workspaceName(request.workspace || request.params["space_name"] || request.target || definition.name);
  const builtins = builtinValues({ ...request, workspace, workspacesDir: deps.workspacesDir, definition, now });
  const { values, params, trusted, missing } = paramValues(definition.params, { ...request.values, ...builtins }, request);
  const number = await deps.runNumbers.next();
  const failed = missing === undefined ? undefined : `required parameter missing: ${missing}`;
  const run: StoredRun = {
    ...runKey(request.runId),
    run_id: request.runId,
    number,
    workflow_name: definition.name,
    workflow_kind: definition.kind,
    modules: pinned.modules,
    target: request.target,
    params,
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
    state: failed === undefined ? NEW_RUN : { ...NEW_RUN, status: "failed", error: failed },
    version: 0,
    list: RUN_LIST,
    listed_at: `${now}#${request.runId}`,
    ...(failed === undefined ? { active: "1", moved_at: now } : {}),
  };
  const kept = await keepValue(deps, request.runId, { values, trusted } satisfies BaseValues);
  const failure = failed === undefined ? undefined : await composeEvents(deps, [failedEvent(run, failed)]);
  return {
    run,
    commit: {
      writes: [
        { op: "put", table: runsTable, item: run, when: [["pk", "missing"]] },
        valueWrite(request.runId, BASE_VALUES, kept),
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
}

async function pinModules(deps: CreateDeps, definition: Definition, revision: number): Promise<Pinned> {
  if (definition.kind === "module") {
    return { modules: [{ name: definition.name, workflow: definition.name, revision }], definitions: [definition] };
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
      throw new ApiError("bad_request", `modules: ${module.name} is a flow, only modules may stand in a flow`);
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
  readonly missing?: string;
}

/** Reference 2.2: what was given, else the default (which may name earlier ones), else missing when required. */
function paramValues(params: readonly Param[], base: Record<string, unknown>, request: RunRequest): ParamValues {
  const values: Record<string, unknown> = { ...base, ...request.params };
  const given: Record<string, string> = { ...request.params };
  const trusted: string[] = [];
  let missing: string | undefined;
  for (const param of params) {
    const sent = request.params[param.name] ?? (param.name.toLowerCase() === "target" ? request.target : "");
    const text = sent !== "" ? sent : param.default === undefined ? undefined : renderText(parseTemplate(param.default), values);
    if (text === undefined || text === "") {
      if (param.required) missing ??= param.name;
      if (text === undefined) continue;
    }
    given[param.name] = text;
    if (sent === "" && param.default?.includes("{{") === false) trusted.push(param.name);
    values[param.name] = param.type === "bool" ? text.toLowerCase() === "true" || text === "1" : text;
  }
  return { values, params: given, trusted, ...(missing === undefined ? {} : { missing }) };
}
