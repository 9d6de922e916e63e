import type { Ports } from "../../platform/ports.ts";
import type { ScriptRequest } from "../../platform/scripts.ts";
import { parseTemplate } from "../expressions/parse.ts";
import { renderScript } from "../expressions/render-script.ts";
import type { EventTrigger } from "../schema/types.ts";
import type { EventValues } from "./trigger-input.ts";

/** Timeout of one filter, milliseconds. */
const FILTER_MS = 500;
/** Timeout of all filters for one event, milliseconds: a caller waits for them. */
export const FILTERS_MS = 3_000;
/** Timeout of a function of an input, milliseconds; no caller waits for it. */
const INPUT_MS = 5_000;

export type ScriptDeps = Pick<Ports, "scripts" | "ids"> & {
  /** Relative paths of file functions start here. */
  readonly workspacesDir: string;
};

/** A filter that does not hold. */
export interface FailedFilter {
  readonly filter: string;
  /** Why it could not be evaluated; undefined if it evaluated to false. */
  readonly problem?: string;
}

/**
 * The first filter of a trigger that does not hold for an event; one that throws or times out does not. Undefined if
 * all hold. `signal` aborts all filters. Reference 4.
 */
export async function findFailedFilter(
  deps: ScriptDeps,
  { filters, filter_functions = [] }: Pick<EventTrigger, "filters" | "filter_functions">,
  values: EventValues,
  signal: AbortSignal,
): Promise<FailedFilter | undefined> {
  // One isolate per trigger and event: filter code never sees another event.
  const isolate = `trigger:${deps.ids.random()}`;
  for (const filter of [...filters, ...filter_functions]) {
    try {
      const request = { isolate, timeoutMs: FILTER_MS, signal };
      if (!(await evaluateOver(deps, filter, values, request, true))) return { filter };
    } catch (error) {
      return { filter, problem: messageOf(error) };
    }
  }
  return undefined;
}

/** Returns a function that evaluates a function of a trigger's input. It throws an Error with the reason. */
export const inputEvaluator =
  (deps: ScriptDeps) =>
  (source: string, values: EventValues): Promise<unknown> =>
    evaluateOver(
      deps,
      source,
      values,
      { isolate: `trigger:${deps.ids.random()}`, timeoutMs: INPUT_MS },
      false,
    );

/** Values of the event are variables of the code, never part of it. */
async function evaluateOver(
  deps: ScriptDeps,
  source: string,
  values: EventValues,
  request: Pick<ScriptRequest, "isolate" | "timeoutMs" | "signal">,
  condition: boolean,
): Promise<unknown> {
  const { code, variables } = renderScript(parseTemplate(source), values, { condition });
  const outcome = await deps.scripts.run({
    ...request,
    code,
    variables: { event: values.event, event_data: values.event["data"] ?? null, ...variables },
    cwd: deps.workspacesDir,
    env: {},
    token: request.isolate,
  });
  if (outcome.ok) return outcome.value;
  throw new Error(outcome.reason === "failed" ? outcome.message : `was stopped: ${outcome.reason}`);
}

function messageOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).slice(0, 300);
}
