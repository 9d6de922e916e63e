import { isRecord, textOf } from "./argument-values.ts";
import {
  type FunctionContext,
  type GeneratedEvent,
  type LibraryFunction,
  ScriptError,
} from "./library-types.ts";

type Kind = NonNullable<GeneratedEvent["tells"]>;

const TOPICS: Readonly<Record<Kind, string>> = {
  asset: "asset.discovered",
  vulnerability: "vuln.found",
  artifact: "artifact.registered",
  totals: "workspace.totals",
};

export interface EmittedRecord {
  readonly tells: Kind;
  /** The run's own where it is empty. */
  readonly workspace: string;
  readonly source: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/**
 * Hands a record over to whoever keeps records: a script has no tables. It is there once the step has ended, and once,
 * however often the step was tried. Throws ScriptError where one script hands over too much.
 */
export function emitRecordEvent(
  context: FunctionContext,
  { tells, workspace, source, data }: EmittedRecord,
): void {
  const event = { workspace, topic: TOPICS[tells], source, data_type: tells, data, tells };
  try {
    context.emitEvent(event);
  } catch {
    throw new ScriptError(
      "too much is imported by one script: split the file and import it in several steps",
    );
  }
}

/** An object as it stands, or JSON text of one. Throws for anything else. */
export function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  if (isRecord(value)) return value;
  const parsed: unknown = JSON.parse(textOf(value));
  if (!isRecord(parsed)) throw new Error("it is no JSON object");
  return parsed;
}

/** A function of today's users that cannot be had here, and why. */
export function notAvailable(
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
