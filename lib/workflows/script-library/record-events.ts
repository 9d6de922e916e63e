import { isRecord, textOf } from "./argument-values.ts";
import {
  type FunctionContext,
  type GeneratedEvent,
  type LibraryFunction,
  ScriptError,
} from "./library-types.ts";

type Kind = NonNullable<GeneratedEvent["effect"]>;

const TOPICS: Readonly<Record<Kind, string>> = {
  asset: "asset.discovered",
  vulnerability: "vuln.found",
  artifact: "artifact.registered",
  totals: "workspace.totals",
};

export interface EmittedRecord {
  readonly effect: Kind;
  /** Empty: the run's own workspace. */
  readonly workspace: string;
  readonly source: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/**
 * Emits the event that creates or updates a record: scripts do not write to tables. The record is stored at the end of
 * the step, once even if the step is retried. Throws ScriptError if a script emits too many.
 */
export function emitRecordEvent(
  context: FunctionContext,
  { effect, workspace, source, data }: EmittedRecord,
): void {
  const event = { workspace, topic: TOPICS[effect], source, data_type: effect, data, effect };
  try {
    context.emitEvent(event);
  } catch {
    throw new ScriptError(
      "one script imports too many records: split the file and import it in several steps",
    );
  }
}

/** Returns an object, given as an object or as JSON. Throws for other values. */
export function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  if (isRecord(value)) return value;
  const parsed: unknown = JSON.parse(textOf(value));
  if (!isRecord(parsed)) throw new Error("must be a JSON object");
  return parsed;
}

/** A function that other servers provide and that is not available here, with the reason. */
export function unavailableFunction(
  name: string,
  group: string,
  params: readonly string[],
  why: string,
): LibraryFunction {
  return {
    group,
    params,
    returns: "nothing",
    summary: `Not available: ${why}`,
    unavailable: true,
    run: () => {
      throw new ScriptError(`${name} is not available: ${why}`);
    },
  };
}
