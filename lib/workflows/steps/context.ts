import type { EventDraft } from "../../events/publish.ts";
import type { Network } from "../../network/network.ts";
import type { Ports } from "../../platform/ports.ts";
import type { StorageHealth } from "../../platform/storage-health.ts";
import type { LlmSettings } from "../../settings/llm.ts";
import type { Request } from "../engine/walk.ts";
import type { Remote } from "../remote/machine.ts";
import type { Step } from "../schema/types.ts";
import type { NeededNames } from "../values/needed-names.ts";
import type { WorkspaceSync } from "../workspaces/sync.ts";
import type { HostCallResult } from "./messages.ts";
import type { StepActivity } from "./step-activity.ts";

/** Where steps that touch files work. Absolute paths. */
export interface StepPaths {
  readonly workspacesDir: string;
  /** Output files of steps, a folder a run. */
  readonly logsDir: string;
  /** Snapshots that are being packed and unpacked; emptied when a server starts. */
  readonly snapshotsDir: string;
  /** Folders that functions of scripts may use besides the workspaces. */
  readonly functionFolders?: readonly string[];
}

/** No tables: what an executor needs to know of a run comes with the command, what it finds out goes back. */
export type StepDeps = Pick<
  Ports,
  "queues" | "blobs" | "claims" | "commands" | "scripts" | "secrets" | "clock" | "ids" | "log"
> & {
  readonly paths: StepPaths;
  /** Of the data folder that holds them, where this process has one. */
  readonly storage?: StorageHealth;
  /** Where machines share workspaces. */
  readonly workspaceSync?: WorkspaceSync;
  /** Containers and other hosts, where this process opens such. */
  readonly remote?: Remote;
  /** `bash`, or `sh` where there is none. */
  readonly shell: string;
  readonly network: Network;
  readonly llm: LlmSettings;
  /** Records and runs for scripts, where this process has tables; the conductor is asked where it has none. */
  readonly handleScriptCall?: HandleScriptCall;
  /** Where this process has the records and the workspaces. */
  readonly snapshots?: Snapshots;
  /** Where watch triggers of this process want to know what was executed when. */
  readonly stepActivity?: StepActivity;
};

/** Workspaces as zip files, for scripts. */
export interface Snapshots {
  /** Keeps it too, under the name. */
  export(workspace: string): Promise<{ readonly name: string; readonly content: AsyncIterable<Uint8Array> }>;
  /** Gives the name of the workspace, which gives way where it is there; the workspace of who asks does not. */
  import(
    from: { readonly name: string } | { readonly file: string },
    by: { readonly workspace: string; readonly cause: Pick<EventDraft, "run_id" | "workflow_name" | "hop"> },
  ): Promise<string>;
}

/** Answers what a script of a run asks of who has tables: records, or another run. */
export type HandleScriptCall = (runId: string, query: unknown) => Promise<HostCallResult>;

/** What a step knows of its run. */
export interface StepRun {
  readonly run_id: string;
  readonly workflow_name: string;
  readonly workspace: string;
  readonly hop: number;
  /** The same, signed. */
  readonly hop_token?: string;
  /** No log of it is kept. */
  readonly unlogged?: true;
  /** Names without a value fail the step. */
  readonly undefined_names?: "fail";
}

/** A loop variable in scope: what `[[variable]]` stands for. */
export interface LoopValue {
  readonly variable: string;
  readonly value: unknown;
  /** From 0. */
  readonly index: number;
}

/** Values that templates of a step may name, and what is text of the workflow file itself. */
export interface Scope {
  readonly values: Record<string, unknown>;
  readonly trusted: ReadonlySet<string>;
  readonly loopVariables: readonly string[];
}

/** One attempt at a step. */
export interface Attempt {
  readonly deps: StepDeps;
  readonly run: StepRun;
  readonly step: Step;
  readonly request: Request;
  /** How often the step was taken, from 1. */
  readonly number: number;
  /** Which try this is of a step that its author told to be tried again, from 1. */
  readonly tries: number;
  /** Sends events of the step to the conductor; durable when the promise settles. */
  emit(drafts: readonly EventDraft[]): Promise<void>;
  /** Aborted when the run was cancelled or the platform stops. */
  readonly signal: AbortSignal;
  /** Working folder of its commands and functions; exists. */
  readonly workspace: string;
  /** Folder of its output files; exists. */
  readonly logs: string;
  /** Milliseconds since the epoch, or undefined without a limit. */
  readonly deadline: number | undefined;
  /** Names in the step's templates that nothing gave a value when it was requested. */
  readonly absent?: NeededNames;
}

/** What a step made. */
export interface StepOutput {
  /** What was executed, as it is shown. */
  readonly command: string;
  /** `<step>_output`; text, or the value of a function. */
  readonly output: unknown;
  /** Further values that templates may name, under whole names. */
  readonly exports: Readonly<Record<string, unknown>>;
  readonly logFile: string;
  /** The step that is to follow, or `_end`, where the work itself says so. */
  readonly goto?: string;
}
