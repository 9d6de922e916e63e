import { composeEvents, type EventDeps } from "../../events/publish.ts";
import type { Commit } from "../../platform/outbox.ts";
import type { Ports } from "../../platform/ports.ts";
import type { Write } from "../../platform/tables.ts";
import { type HistoryEntry, replay } from "../engine/history.ts";
import { buildProgram, totalSteps } from "../engine/program.ts";
import type { Installation } from "../installation/installation.ts";
import type { NumberSequence } from "../lists/number-sequence.ts";
import type { Definition } from "../schema/types.ts";
import { CONDUCT_QUEUE } from "../steps/messages.ts";
import type { Definitions } from "../store/store.ts";
import { builtinValues } from "../values/built-in-values.ts";
import { paramValues } from "../values/param-values.ts";
import {
  BASE_VALUES,
  type BaseValues,
  type StoredValueRef,
  storeValue,
  valueWrite,
} from "../values/stored-values.ts";
import { workspaceName } from "../workspaces/workspace-name.ts";
import { enqueueWrite, jobQueuePosition } from "./admission.ts";
import { type Plan, planFor } from "./plan.ts";
import { failedAtStart } from "./run-events.ts";
import { linkWrites } from "./run-links.ts";
import { runPendingWrite } from "./run-list.ts";
import {
  historyKey,
  historyTable,
  memberKey,
  numberKey,
  type RunSource,
  runKey,
  runNamesTable,
  runsTable,
  type StoredRun,
  type TriggerType,
  unfinishedPartition,
} from "./table.ts";
import { TARGET_MAX_LENGTH } from "./targets.ts";

export interface RunRequest {
  readonly runId: string;
  readonly workflow: string;
  /** Default: the newest revision. */
  readonly revision?: number;
  readonly target: string;
  readonly params: Readonly<Record<string, string>>;
  readonly workspace?: string;
  readonly triggerType: TriggerType;
  readonly triggerName?: string;
  readonly eventId?: string;
  /** Set if one request starts several runs; otherwise each run is its own job. */
  readonly job?: RunJob;
  readonly priority?: string;
  /** Maximum duration from the start, minutes. */
  readonly timeout?: number;
  /** Override the defaults of `{{HeuristicsCheck}}`, `{{threads}}` and `{{TargetFile}}`. */
  readonly heuristics?: string;
  readonly threads?: number;
  readonly targetFile?: string;
  /** The run is created but stays pending until a caller starts it. */
  readonly held?: boolean;
  readonly hop?: number;
  /** Default: the id of the event, or else of the run itself. */
  readonly rootCause?: string;
  readonly source?: RunSource;
  /** The run and the document that it was started by. */
  readonly parent?: string;
  readonly document?: string;
  /** Further values that templates of the run may name. */
  readonly values?: Readonly<Record<string, unknown>>;
}

export interface RunJob {
  readonly id: string;
  /** Position in the job, from 0. */
  readonly index: number;
  /** Number of runs in the job, and how many of them may run concurrently. */
  readonly size: number;
  readonly width: number;
}

export type CreateDeps = Omit<EventDeps, "outbox"> &
  Pick<Ports, "tables"> & {
    readonly definitions: Definitions;
    readonly runNumbers: NumberSequence;
    readonly workspacesDir: string;
    readonly installation: Installation;
    readonly undefinedNames: "empty" | "fail";
  };

/** Longest parameter value in a run record, characters; templates use the full value. */
const SHOWN_PARAM_LENGTH = 1_000;

/** A run that is about to be created. */
export interface ComposedRun {
  readonly run: StoredRun;
  /** Creates the run, and sends its start message unless it waits or failed. */
  readonly commit: Commit;
  /** The writes of the commit except that of the run's own row. */
  readonly others: readonly Write[];
  /** The values among them, by name. */
  readonly values: Readonly<Record<string, StoredValueRef>>;
  /** Whether the commit sends a start message. */
  readonly starts: boolean;
}

/**
 * Composes the commit that creates a run: its row, its pending entry, its values and its start message. A run that
 * cannot start (a required parameter is missing, a module of a triggered flow was deleted) is created as failed, with
 * the reason. Throws `not_found` and `bad_request` if the workflow does not exist.
 */
export async function composeRun(deps: CreateDeps, request: RunRequest, plan?: Plan): Promise<ComposedRun> {
  const pinned = plan ?? (await planFor(deps, request));
  const { definition } = pinned;
  const program = buildProgram(
    pinned.modules,
    pinned.definitions,
    definition.kind === "flow" ? { definition, params: request.params } : undefined,
  );
  const now = new Date(deps.clock.now()).toISOString();
  const workspace = workspaceName(
    request.workspace || request.params["space_name"] || request.target || definition.name,
  );
  const number = await deps.runNumbers.next();
  const builtins = builtinValues({
    ...request,
    number,
    random: deps.ids.random(),
    workspace,
    workspacesDir: deps.workspacesDir,
    installation: deps.installation,
    definition,
    now,
  });
  const { values, params, trusted, problem } = paramValues(
    definition.params,
    { ...request.values, ...builtins },
    {
      ...request,
      now: Date.parse(now),
      undefinedNames: deps.undefinedNames === "fail" ? "fail" : definition.undefined,
    },
  );
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
    workflow_revision: pinned.revision,
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
    run_group_id: request.job?.id ?? request.runId,
    total_steps: totalSteps(program),
    completed_steps: 0,
    priority: request.priority ?? "normal",
    hop: request.hop ?? 0,
    root_cause: request.rootCause ?? (request.eventId || request.runId),
    ...(request.source === undefined ? {} : { source: request.source }),
    ...(request.parent === undefined ? {} : { parent: request.parent }),
    ...(request.document === undefined ? {} : { document: request.document }),
    state: replay(entries),
    begun: {},
    version: 0,
    ...(request.timeout === undefined ? {} : { timeout: request.timeout }),
    ...(request.job !== undefined && request.job.width < request.job.size
      ? { job_width: request.job.width }
      : {}),
    ...(failed === undefined ? { unfinished: unfinishedPartition(request.runId) } : {}),
    ...(isUnlogged(definition) ? { unlogged: true } : {}),
  };
  const given = Object.entries(request.params).flatMap(([name, text]) => (text === "" ? [] : [name]));
  const base: BaseValues = { values, trusted, given };
  const kept = await storeValue(deps, request.runId, base);
  const failure = failed === undefined ? undefined : await composeEvents(deps, [failedAtStart(run, failed)]);
  const departure = departureOf(run, request, now);
  const others: Write[] = [
    runPendingWrite(run),
    ...nameWrites(run, request),
    ...linkWrites(run),
    ...departure.writes,
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
  ];
  return {
    run: departure.run,
    commit: {
      writes: [{ op: "put", table: runsTable, item: departure.run, when: [["pk", "missing"]] }, ...others],
      publish: failure?.publish ?? [],
      send: departure.starts ? [startMessage(request.runId)] : [],
    },
    others,
    values: { [BASE_VALUES]: kept },
    starts: departure.starts,
  };
}

/** Writes the items by which a run is found: its number, and its position in its job. */
function nameWrites({ run_id, number }: StoredRun, { job }: RunRequest): Write[] {
  const keys = [numberKey(number), ...(job === undefined ? [] : [memberKey(job.id, job.index)])];
  return keys.map((key) => ({ op: "put", table: runNamesTable, item: { ...key, run_id } }));
}

interface Departure {
  readonly run: StoredRun;
  readonly writes: readonly Write[];
  readonly starts: boolean;
}

/** A run starts immediately, or waits for a caller's start or for another run of its job to end. */
function departureOf(run: StoredRun, { held, job }: RunRequest, now: string): Departure {
  if (run.status !== "pending" || held === true) return { run, writes: [], starts: false };
  if (job === undefined || job.index < job.width)
    return { run: { ...run, moved_at: now }, writes: [], starts: true };
  const queued = jobQueuePosition(run);
  return { run: { ...run, queued }, writes: [enqueueWrite(queued, run.run_id)], starts: false };
}

/** The message that starts a run. */
export function startMessage(runId: string) {
  const body = JSON.stringify({ run_id: runId, input: { type: "start" } });
  return { queue: CONDUCT_QUEUE, messages: [{ body, groupId: runId, deduplicationId: `start:${runId}` }] };
}

const isUnlogged = ({ preferences = {} }: Definition): boolean =>
  preferences.disable_logging === true || preferences.silent === true;

/** Parameters as the run's record shows them. */
export function shownParams(params: Readonly<Record<string, string>>): Record<string, string> {
  const cut = (text: string): string =>
    text.length > SHOWN_PARAM_LENGTH ? `${text.slice(0, SHOWN_PARAM_LENGTH)} [truncated]` : text;
  return Object.fromEntries(Object.entries(params).map(([name, text]) => [name, cut(text)]));
}
