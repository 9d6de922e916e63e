import type { EventDraft } from "../../events/publish.ts";
import type { Network } from "../../network/network.ts";
import type { Ports } from "../../platform/ports.ts";
import type { StorageHealth } from "../../platform/storage-health.ts";
import type { LlmSettings } from "../../settings/llm.ts";
import type { StepRequestEntry } from "../engine/walk.ts";
import type { Remote } from "../remote/machine.ts";
import type { Step } from "../schema/types.ts";
import type { NeededNames } from "../values/needed-names.ts";
import type { WorkspaceSync } from "../workspaces/sync.ts";
import type { ConductHere, HostCallResult } from "./messages.ts";
import type { StepActivity } from "./step-activity.ts";

/** Folders of steps that use files. Absolute paths. */
export interface StepPaths {
  readonly workspacesDir: string;
  /** Output files of steps, one folder per run. */
  readonly logsDir: string;
  /** Snapshots that are being packed and unpacked; emptied when a server starts. */
  readonly snapshotsDir: string;
  /** Folders, besides the workspaces, that script functions may use. */
  readonly functionFolders?: readonly string[];
}

/** Without tables: an executor receives what it needs with the command, and sends its results back. */
export type StepDeps = Pick<
  Ports,
  "queues" | "blobs" | "claims" | "commands" | "scripts" | "secrets" | "clock" | "ids" | "log"
> & {
  readonly paths: StepPaths;
  /** Health of the data folder, if this process has one. */
  readonly storage?: StorageHealth;
  /** Set if machines share workspaces. */
  readonly workspaceSync?: WorkspaceSync;
  /** Containers and remote hosts, if this process can connect to them. */
  readonly remote?: Remote;
  /** `bash`, or `sh` if bash is missing. */
  readonly shell: string;
  readonly network: Network;
  readonly llm: LlmSettings;
  /** Handles script calls that need tables; without it, the conductor handles them. */
  readonly handleScriptCall?: HandleScriptCall;
  /** Resolves when the request of a step is on disk, if it may begin before that: awaited before effects outside. */
  readonly durable?: () => Promise<void>;
  /** Handles results and events of steps at once; without it, they go through the conductor's queue. */
  readonly conductHere?: ConductHere;
  /** Set if this process has the records and the workspaces. */
  readonly snapshots?: Snapshots;
  /** Set if watch triggers of this process need to know which steps ran when. */
  readonly stepActivity?: StepActivity;
};

/** Workspaces as zip files, for scripts. */
export interface Snapshots {
  /** Also stores the snapshot, under the returned name. */
  export(workspace: string): Promise<{ readonly name: string; readonly content: AsyncIterable<Uint8Array> }>;
  /** Returns the name of the imported workspace. An existing workspace is replaced, but not the caller's own. */
  import(
    from: { readonly name: string } | { readonly file: string },
    by: { readonly workspace: string; readonly cause: Pick<EventDraft, "run_id" | "workflow_name" | "hop"> },
  ): Promise<string>;
}

/** Handles a script call of a run that needs tables: for records, or for another run. */
export type HandleScriptCall = (runId: string, query: unknown) => Promise<HostCallResult>;

/** The run, as far as a step needs it. */
export interface StepRun {
  readonly run_id: string;
  readonly workflow_name: string;
  readonly workspace: string;
  readonly hop: number;
  /** The signed form of `hop`. */
  readonly hop_token?: string;
  /** The run has no log. */
  readonly unlogged?: true;
  /** Names without a value fail the step. */
  readonly undefined_names?: "fail";
}

/** A loop variable in scope: the value of `[[variable]]`. */
export interface LoopValue {
  readonly variable: string;
  readonly value: unknown;
  /** From 0. */
  readonly index: number;
}

/** Values that templates of a step may name, and which of them are trusted text of the workflow file. */
export interface Scope {
  readonly values: Record<string, unknown>;
  readonly trusted: ReadonlySet<string>;
  readonly loopVariables: readonly string[];
}

/** What an attempt executes, for its row: also known if the attempt fails. Set by the work of the step. */
export interface ShownWork {
  /** The executed command, as displayed. */
  command: string;
  /** Variables that the step adds to the environment of its commands. */
  environment: Readonly<Record<string, string>>;
  /** The output file of the first command; empty if there is none. */
  logFile: string;
}

/** One attempt of a step. */
export interface Attempt {
  readonly deps: StepDeps;
  readonly run: StepRun;
  readonly step: Step;
  readonly request: StepRequestEntry;
  /** Number of deliveries of the step, from 1. */
  readonly number: number;
  /** Number of the try of a step with `retry`, from 1. */
  readonly tries: number;
  readonly shown: ShownWork;
  /** Sends events of the step to the conductor; they are durable when the promise resolves. */
  emit(drafts: readonly EventDraft[]): Promise<void>;
  /** Aborted when the run is cancelled or the platform stops. */
  readonly signal: AbortSignal;
  /** Working folder of its commands and functions; exists if the step is executed in the workspace. */
  readonly workspace: string;
  /** Folder of its output files, with the same condition. */
  readonly logs: string;
  /** Milliseconds since the epoch; undefined if there is no limit. */
  readonly deadline: number | undefined;
  /** Names in the step's templates that had no value when the step was requested. */
  readonly absent?: NeededNames;
}

/** The output of a step. */
export interface StepOutput {
  /** The executed command, as displayed. */
  readonly command: string;
  /** `<step>_output`: text, or the value of a function. */
  readonly output: unknown;
  /** Further values for templates, by full name. */
  readonly exports: Readonly<Record<string, unknown>>;
  readonly logFile: string;
  /** The next step, or `_end`, if the work itself sets it. */
  readonly goto?: string;
}
