import type { EventDraft } from "../../events/publish.ts";
import type { Ports } from "../../platform/ports.ts";
import type { Input } from "../engine/decide.ts";
import type { StepRequestEntry } from "../engine/walk.ts";
import type { Step } from "../schema/types.ts";
import type { NeededNames } from "../values/needed-names.ts";
import type { StoredValueRef } from "../values/stored-values.ts";
import type { WorkspaceChange } from "../workspaces/layers.ts";

/** Detail type of the command that requests a step. */
export const STEP_REQUESTED = "step.requested";
export const CONDUCT_QUEUE = "conduct";
/** A longer message is stored in a blob, and the message names the blob; characters of JSON. */
const MESSAGE_INLINE_LENGTH = 200 * 1024;

/** Where a step can be executed: on the machine of the run's workspace, or anywhere if it uses no files. */
export type ExecutionTarget = "workspace" | "anywhere";

/** Detail of `step.requested` on the bus. */
export interface StepCommand {
  /** Step type and execution target: the rules of the bus match them. */
  readonly type: string;
  readonly execution_target: ExecutionTarget;
  readonly run_id: string;
  readonly request: StepRequestEntry;
  /** The work, or the blob that holds its JSON. */
  readonly work?: StepWork;
  readonly work_blob?: string;
}

/** A loop around a step: the current item is in the chunk of the foreach that contains `index`. */
export interface LoopPosition {
  readonly variable: string;
  readonly foreach_key: string;
  /** From 0. */
  readonly index: number;
}

/** Everything that an executor needs to execute a step: it reads no tables. */
export interface StepWork {
  readonly workflow_name: string;
  readonly workspace: string;
  /** Of the run; events of the step have one hop more. */
  readonly hop: number;
  readonly root_cause?: string;
  /** The signed hop that the step's commands pass on. */
  readonly hop_token?: string;
  /** The run has no log. */
  readonly unlogged?: true;
  /** Names without a value fail the step. */
  readonly undefined_names?: "fail";
  /** Names in its templates without a value so far; absent if every name has one. */
  readonly absent?: NeededNames;
  readonly step: Step;
  /** Values that the step's templates name: of the run, its parameters and built-in variables. */
  readonly values: Readonly<Record<string, StoredValueRef>>;
  /** Parameters and built-in variables that are too large for the message; earlier ones take precedence. */
  readonly bases?: readonly StoredValueRef[];
  readonly trusted: readonly string[];
  /** Outermost first, without the batch's own loop. */
  readonly loops: readonly LoopPosition[];
  /** When the containers around the step must have ended, milliseconds since the epoch. */
  readonly deadline?: number;
  /** Layers of the run's workspace, if machines share workspaces and the step uses it. */
  readonly layers?: readonly string[];
  /** A batch of items of a foreach. */
  readonly batch?: {
    readonly variable: string;
    readonly foreach_key: string;
    readonly parallel: number;
  };
  /** At the start of a module: names of the parameters that the run received or its flow declares. */
  readonly given?: readonly string[];
  /** At the end of a module: the error, if its steps failed. */
  readonly ended?: { readonly error?: string };
  /** At the end of a container: how its children ended, and the names of their outputs. */
  readonly children?: {
    readonly failed: number;
    readonly error?: string;
    readonly outputs: readonly string[];
    readonly deadline?: number;
  };
}

/** The result of a step as its executor reports it, in addition to the conductor's input. */
export interface StepReport {
  readonly attempt: number;
  readonly command: string;
  readonly output: string;
  readonly output_truncated: boolean;
  readonly output_lines: number;
  readonly duration_ms: number;
  readonly log_file: string;
  readonly exports: Readonly<Record<string, string>>;
  /** Absent in messages of earlier releases. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Values that later templates may name. */
  readonly values: Readonly<Record<string, StoredValueRef>>;
  /** Changes of a workspace that machines share. */
  readonly files?: WorkspaceChange;
}

/** Events that a step generated. */
export interface StepEvents {
  /** Unique in the run, so the events are recorded once. */
  readonly id: string;
  readonly drafts: readonly EventDraft[];
}

/** Why the last delivery of a step's request failed. */
export interface StepFailure {
  readonly queue: string;
  readonly message_id: string;
  readonly body: string;
  readonly error: string;
}

/** A call of a step's script to the host. */
export interface HostCall {
  /** Unique; the result is stored in the blob of this id. */
  readonly id: string;
  readonly query: unknown;
}

/** The newest matching records and their total, or why the call failed. */
export type HostCallResult =
  | {
      readonly records: readonly Readonly<Record<string, unknown>>[];
      readonly total: number;
    }
  | { readonly error: string };

/** The blob that holds the result: executors read no tables. */
export const hostCallResultBlob = (runId: string, id: string): string => `runs/${runId}/answers/${id}`;

/** A message of the conduct queue: an input of the run, or events, a host call or a failure of one of its steps. */
export interface ConductMessage {
  readonly run_id: string;
  readonly failure?: StepFailure;
  readonly input?: Input;
  readonly report?: StepReport;
  readonly events?: StepEvents;
  readonly call?: HostCall;
}

/** The body of a message in the queue. */
export type QueuedMessage = ConductMessage | { readonly run_id: string; readonly message_blob: string };

/** Handles an input of a run, or events of one of its steps, in this process and after the earlier ones of the run. */
export type ConductHere = (
  message: Pick<ConductMessage, "run_id" | "input" | "report" | "events">,
) => Promise<void>;

type SendDeps = Pick<Ports, "queues" | "blobs" | "ids" | "log"> & {
  /** Set if this process has the tables and commits messages together with their causes. */
  readonly conductHere?: ConductHere;
};

/** Number of runs whose messages go through the queue after a failure: those that sent one last. */
const QUEUED_RUNS_MAX = 10_000;

/** Runs with a message that `conductHere` failed to handle. Their later messages must not overtake it. */
const queuedRuns = new WeakMap<ConductHere, Set<string>>();

function queueFromNowOn(conductHere: ConductHere, runId: string): void {
  const runs = queuedRuns.get(conductHere) ?? new Set();
  queuedRuns.set(conductHere, runs);
  runs.delete(runId);
  runs.add(runId);
  const [oldest] = runs;
  if (runs.size > QUEUED_RUNS_MAX && oldest !== undefined) runs.delete(oldest);
}

/**
 * Passes a message to a run's conductor: in this process if it has the tables, otherwise through the conductor's queue.
 * After a failure in this process, that message and all later ones of the run go through the queue, too. Messages of a
 * run are processed in order. `id` is unique in the run.
 */
export async function sendToConductor(deps: SendDeps, message: ConductMessage, id: string): Promise<void> {
  const { run_id } = message;
  const { conductHere } = deps;
  const isOfRun = message.input !== undefined || message.events !== undefined;
  if (isOfRun && conductHere !== undefined) {
    if (queuedRuns.get(conductHere)?.has(run_id) !== true) {
      try {
        return await conductHere(message);
      } catch (error) {
        deps.log.warn("a step's message goes through the queue: handling it at once failed", {
          run: run_id,
          message: id,
          error,
        });
      }
    }
    queueFromNowOn(conductHere, run_id);
  }
  let body = JSON.stringify(message);
  if (body.length > MESSAGE_INLINE_LENGTH / 4 && Buffer.byteLength(body) > MESSAGE_INLINE_LENGTH) {
    const message_blob = `runs/${run_id}/messages/${deps.ids.random()}`;
    await deps.blobs.put(message_blob, body);
    body = JSON.stringify({ run_id, message_blob } satisfies QueuedMessage);
  }
  await deps.queues.send(CONDUCT_QUEUE, [{ body, groupId: run_id, deduplicationId: `${id}:${run_id}` }]);
}

/** Reads a message, from its blob if necessary. */
export async function openMessage(
  deps: Pick<Ports, "blobs">,
  queued: QueuedMessage,
): Promise<ConductMessage> {
  return "message_blob" in queued ? readJson<ConductMessage>(deps, queued.message_blob) : queued;
}

/** Adds the work to the command, or stores it in a blob of the request if it is too large. */
export async function commandWith(
  deps: Pick<Ports, "blobs">,
  command: Omit<StepCommand, "work" | "work_blob">,
  work: StepWork,
): Promise<StepCommand> {
  const json = JSON.stringify(work);
  if (json.length <= MESSAGE_INLINE_LENGTH / 4 || Buffer.byteLength(json) <= MESSAGE_INLINE_LENGTH)
    return { ...command, work };
  const work_blob = `runs/${command.run_id}/work/${command.request.dispatch}`;
  await deps.blobs.put(work_blob, json);
  return { ...command, work_blob };
}

/** Reads the work of a command, from its blob if necessary. */
export async function openWork(
  deps: Pick<Ports, "blobs">,
  { work, work_blob }: StepCommand,
): Promise<StepWork> {
  if (work !== undefined) return work;
  return readJson<StepWork>(deps, work_blob ?? "");
}

async function readJson<Value>(deps: Pick<Ports, "blobs">, key: string): Promise<Value> {
  const bytes = await deps.blobs.get(key);
  if (bytes === undefined) throw new Error(`the blob of a message is missing: ${key}`);
  return JSON.parse(Buffer.from(bytes).toString("utf8")) as Value;
}

/** Claimed when a run ends while steps are running: their executors check it. */
export const runFinishedKey = (runId: string): string => `runs/${runId}/over`;
/** Claimed by the executor of a delivery, so that a duplicate delivery is ignored. */
export const attemptKey = (runId: string, dispatch: number, attempt: number): string =>
  `runs/${runId}/steps/${dispatch}.${attempt}`;
/** Claimed when a delivery ended without a result, so that the next one may begin. */
export const attemptReleasedKey = (runId: string, dispatch: number, attempt: number): string =>
  `${attemptKey(runId, dispatch, attempt)}.released`;
