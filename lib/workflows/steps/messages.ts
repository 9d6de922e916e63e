import type { EventDraft } from "../../events/publish.ts";
import type { Ports } from "../../platform/ports.ts";
import type { Input } from "../engine/decide.ts";
import type { Request } from "../engine/walk.ts";
import type { Step } from "../schema/types.ts";
import type { NeededNames } from "../values/needed-names.ts";
import type { StoredValueRef } from "../values/stored-values.ts";
import type { WorkspaceChange } from "../workspaces/layers.ts";

/** Detail type on the bus of the command that asks for a step. */
export const STEP_REQUESTED = "step.requested";
export const CONDUCT_QUEUE = "conduct";
/** A message that is longer lies in a blob, and a short one names it; characters of JSON. */
const MESSAGE_INLINE_LENGTH = 200 * 1024;

/** Where a step can be executed: where the run's workspace is, or anywhere, as it touches no files. */
export type ExecutionTarget = "workspace" | "anywhere";

/** Detail of `step.requested` on the bus. */
export interface StepCommand {
  /** Of the step, and where it can be executed: what the rules go by. */
  readonly type: string;
  readonly place: ExecutionTarget;
  readonly run_id: string;
  readonly request: Request;
  /** The work itself, or the blob that holds its JSON. */
  readonly work?: StepWork;
  readonly work_blob?: string;
}

/** A loop around a step: the item in turn lies in the chunk of the foreach that holds its place. */
export interface LoopPosition {
  readonly variable: string;
  readonly foreach_key: string;
  /** From 0. */
  readonly index: number;
}

/** All that an executor needs to know of a run to execute one step of it: it reads no tables. */
export interface StepWork {
  readonly workflow_name: string;
  readonly workspace: string;
  /** Of the run: events of the step have one more. */
  readonly hop: number;
  readonly root_cause?: string;
  /** The same, signed: what its commands hand on. */
  readonly hop_token?: string;
  /** No log of the run is kept. */
  readonly unlogged?: true;
  /** Names without a value fail the step. */
  readonly undefined_names?: "fail";
  /** Names in its templates without a value so far; absent if every name has one. */
  readonly absent?: NeededNames;
  readonly step: Step;
  /** What the step's templates name: values of the run, and its parameters and built-in variables. */
  readonly values: Readonly<Record<string, StoredValueRef>>;
  /** Parameters and built-in variables, where they are too many to be sent along; earlier ones go before later ones. */
  readonly bases?: readonly StoredValueRef[];
  readonly trusted: readonly string[];
  /** Outermost first; a batch's own is not among them. */
  readonly loops: readonly LoopPosition[];
  /** When the containers around the step must have ended, milliseconds since the epoch. */
  readonly deadline?: number;
  /** What the run's workspace is made of, where machines share workspaces and the step needs it. */
  readonly layers?: readonly string[];
  /** Items of a foreach in one go. */
  readonly batch?: {
    readonly variable: string;
    readonly foreach_key: string;
    readonly parallel: number;
  };
  /** The beginning of a module: names of what the run was given, or its flow declares. */
  readonly given?: readonly string[];
  /** A module whose steps are over, without an error where they succeeded. */
  readonly ended?: { readonly error?: string };
  /** A container that is left: how its children ended, and under which names they left their output. */
  readonly children?: {
    readonly failed: number;
    readonly error?: string;
    readonly outputs: readonly string[];
    readonly deadline?: number;
  };
}

/** What an executor reports of a step: what is to be recorded of it beside the conductor's input. */
export interface StepReport {
  readonly attempt: number;
  readonly command: string;
  readonly output: string;
  readonly output_truncated: boolean;
  readonly output_lines: number;
  readonly duration_ms: number;
  readonly log_file: string;
  readonly exports: Readonly<Record<string, string>>;
  /** What templates may name from now on. */
  readonly values: Readonly<Record<string, StoredValueRef>>;
  /** What it did to a workspace that machines share. */
  readonly files?: WorkspaceChange;
}

/** Events that a step generated. */
export interface StepEvents {
  /** Unique in the run: they are recorded once. */
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

/** What a script of a step asks of the tables. */
export interface HostCall {
  /** Unique: the answer lies in the blob that it names. */
  readonly id: string;
  readonly query: unknown;
}

/** The newest of the records that were asked for, and how many there are in all; or what is wrong with the question. */
export type HostCallResult =
  | {
      readonly records: readonly Readonly<Record<string, unknown>>[];
      readonly total: number;
    }
  | { readonly error: string };

/** Where an executor, who has no tables, finds the answer. */
export const hostCallResultBlob = (runId: string, id: string): string => `runs/${runId}/answers/${id}`;

/** A message of the conduct queue: an input of the run, or events, a question or a failure of one of its steps. */
export interface ConductMessage {
  readonly run_id: string;
  readonly failure?: StepFailure;
  readonly input?: Input;
  readonly report?: StepReport;
  readonly events?: StepEvents;
  readonly question?: HostCall;
}

/** As it stands in the queue. */
export type QueuedMessage = ConductMessage | { readonly run_id: string; readonly message_blob: string };

type SendDeps = Pick<Ports, "queues" | "blobs" | "ids">;

/** Sends a message to a run's conductor; messages of one run are taken in order. `id` is unique in the run. */
export async function sendToConductor(deps: SendDeps, message: ConductMessage, id: string): Promise<void> {
  const { run_id } = message;
  let body = JSON.stringify(message);
  if (body.length > MESSAGE_INLINE_LENGTH / 4 && Buffer.byteLength(body) > MESSAGE_INLINE_LENGTH) {
    const message_blob = `runs/${run_id}/messages/${deps.ids.random()}`;
    await deps.blobs.put(message_blob, body);
    body = JSON.stringify({ run_id, message_blob } satisfies QueuedMessage);
  }
  await deps.queues.send(CONDUCT_QUEUE, [{ body, groupId: run_id, deduplicationId: `${id}:${run_id}` }]);
}

/** The message that is meant, wherever it lies. */
export async function openMessage(
  deps: Pick<Ports, "blobs">,
  queued: QueuedMessage,
): Promise<ConductMessage> {
  return "message_blob" in queued ? readJson<ConductMessage>(deps, queued.message_blob) : queued;
}

/** Puts the work where it fits: into the command itself, or a blob that belongs to the request. */
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

/** The work of a command, wherever it lies. */
export async function openWork(
  deps: Pick<Ports, "blobs">,
  { work, work_blob }: StepCommand,
): Promise<StepWork> {
  if (work !== undefined) return work;
  return readJson<StepWork>(deps, work_blob ?? "");
}

async function readJson<Value>(deps: Pick<Ports, "blobs">, key: string): Promise<Value> {
  const bytes = await deps.blobs.get(key);
  if (bytes === undefined) throw new Error(`a message lies in a blob that is not there: ${key}`);
  return JSON.parse(Buffer.from(bytes).toString("utf8")) as Value;
}

/** Taken once a run is over although steps of it are under way: their executors look for it. */
export const runFinishedKey = (runId: string): string => `runs/${runId}/over`;
/** Taken by the executor of one delivery of one request: a copy of the delivery finds it. */
export const attemptKey = (runId: string, dispatch: number, attempt: number): string =>
  `runs/${runId}/steps/${dispatch}.${attempt}`;
/** Taken when a delivery ended without a result and without a trace: the next one may begin. */
export const attemptReleasedKey = (runId: string, dispatch: number, attempt: number): string =>
  `${attemptKey(runId, dispatch, attempt)}.released`;
