import type { EventDeps } from "../../events/publish.ts";
import type { Ports } from "../../platform/ports.ts";
import type { Step } from "../definition/types.ts";
import type { Definitions } from "../definitions/store.ts";
import type { Request } from "../engine/decide.ts";
import type { StoredRun } from "../runs/table.ts";

/** Where steps that touch files work. Absolute paths. */
export interface StepPaths {
  readonly workspacesDir: string;
  /** Output files of steps, a folder a run. */
  readonly logsDir: string;
}

export type StepDeps = EventDeps &
  Pick<Ports, "tables" | "queues" | "commands" | "scripts" | "instances"> & {
    readonly definitions: Definitions;
    readonly paths: StepPaths;
    /** `bash`, or `sh` where there is none. */
    readonly shell: string;
  };

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
  readonly run: StoredRun;
  readonly step: Step;
  readonly request: Request;
  /** The fencing token of its result, from 1. */
  readonly number: number;
  /** Aborted when the run was cancelled, the lease was lost or the platform stops. */
  readonly signal: AbortSignal;
  /** Working folder of its commands and functions; exists. */
  readonly workspace: string;
  /** Folder of its output files; exists. */
  readonly logs: string;
  /** Milliseconds since the epoch, or undefined without a limit. */
  readonly deadline: number | undefined;
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
}
