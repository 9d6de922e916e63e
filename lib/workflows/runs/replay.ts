import * as z from "zod";
import { ApiError } from "../../errors.ts";
import { readAll } from "../../events/read-all.ts";
import { evolve, type HistoryEntry, NEW_RUN, replay } from "../engine/history.ts";
import type { Program } from "../engine/program.ts";
import type { Definition } from "../schema/types.ts";
import { SHOWN_EXPORT_MAX } from "../steps/step-outcome.ts";
import { openValue } from "../values/stored-values.ts";
import { type StoredValue, valuesTable } from "../values/table.ts";
import { getRun } from "./read.ts";
import { baseOf, type RerunRequest } from "./rerun.ts";
import { type Continuation, continueRun, type ResumeDeps } from "./resume.ts";
import { programOf } from "./running-steps.ts";
import { paramsBody } from "./start.ts";
import { isActionAllowed } from "./status-transitions.ts";
import { historyTable, type StoredRun, type StoredStep, stepsTable } from "./table.ts";

const STEP_MAX_LENGTH = 512;
const NAME_MAX_LENGTH = 256;
const VALUES_MAX = 256;
/** Names that an error message lists. */
const LISTED_MAX = 20;

export const replayBody = z.object({
  step: z
    .string()
    .min(1, "must not be empty")
    .max(STEP_MAX_LENGTH)
    .describe("The step to begin with: its name, in a flow `module/step`"),
  params: paramsBody.optional().describe("Override the params of the run with the same names"),
  values: z
    .record(z.string().max(NAME_MAX_LENGTH), z.unknown())
    .refine((values) => Object.keys(values).length <= VALUES_MAX, `must have at most ${VALUES_MAX} entries`)
    .optional()
    .describe("Replace outputs and exports of earlier steps by name, such as `fetch_output`"),
});

/**
 * Replays a finished run from a step: creates a new run with the same revisions and workspace, which takes over the
 * results of the steps that had finished when the step began, with some parameters and values changed, and executes
 * the rest. A step that was executed several times is replayed from the last time. Throws `not_found`, and
 * `bad_request` that names each invalid field.
 */
export async function replayRun(
  deps: ResumeDeps,
  idOrNumber: string,
  { step, params = {}, values = {} }: z.infer<typeof replayBody>,
): Promise<RerunRequest> {
  const original = await getRun(deps, idOrNumber);
  if (!isActionAllowed("replay", original.status))
    throw new ApiError(
      "bad_request",
      `Cannot replay run with status '${original.status}'. Only runs that have ended can be replayed.`,
    );
  const items = await readAll(deps, historyTable, { pk: original.run_id });
  const kept = upToStep(
    items.flatMap(({ entries }) => entries),
    step,
  );
  if (kept === undefined) throw await missingStep(deps, original, step);
  const issues: string[] = [];
  const changedParams = await checkParams(deps, original, params, issues);
  const recorded = await recordedValues(deps, original, kept);
  const changedValues = checkValues(recorded, values, issues);
  if (issues.length > 0) throw new ApiError("bad_request", issues.join("; "));
  return continueRun(deps, original, {
    kept,
    whole: kept,
    source: { run_id: original.run_id, action: "replay", step },
    params: changedParams,
    values: changedValues,
  });
}

/** The history up to the last request of a top-level step; undefined if the run has not requested it. */
function upToStep(entries: readonly HistoryEntry[], key: string): readonly HistoryEntry[] | undefined {
  let state = NEW_RUN;
  let cut: number | undefined;
  for (const [index, entry] of entries.entries()) {
    const isFirst = entry.type === "step.requested" && state.frames[entry.key] === undefined;
    if (isFirst && entry.key === key && entry.parent === null && entry.position !== undefined) cut = index;
    state = evolve(state, entry);
  }
  return cut === undefined ? undefined : entries.slice(0, cut + 1);
}

async function missingStep(deps: ResumeDeps, original: StoredRun, step: string): Promise<ApiError> {
  const { modules }: Program = await programOf(deps, original);
  const keyOf = (module: string, name: string): string =>
    original.workflow_kind === "flow" ? `${module}/${name}` : name;
  const all = modules.flatMap(({ name, steps }) => steps.map((each) => keyOf(name, each.name)));
  if (all.includes(step)) return new ApiError("bad_request", `step: '${step}' was not executed in this run`);
  const isNested = modules.some(({ name, byName }) =>
    [...byName.keys()].some((inner) => keyOf(name, inner) === step),
  );
  return new ApiError(
    "bad_request",
    isNested
      ? `step: '${step}' is inside another step: replay from that one`
      : `step: the run has no step '${step}'; it has ${listed(all)}`,
  );
}

async function checkParams(
  deps: ResumeDeps,
  original: StoredRun,
  params: Readonly<Record<string, string>>,
  issues: string[],
): Promise<NonNullable<Continuation["params"]>> {
  const names = Object.keys(params);
  if (names.length === 0) return {};
  const definition: Definition = await deps.definitions.get(
    original.workflow_name,
    original.workflow_revision,
  );
  const { values, given } = await baseOf(deps, original.run_id);
  const declared = new Map(definition.params.map((param) => [param.name, param]));
  const known = new Set([...declared.keys(), ...(given ?? Object.keys(original.params))]);
  const changed: Record<string, { text: string; value: unknown }> = {};
  for (const [name, text] of Object.entries(params)) {
    const param = declared.get(name);
    if (!known.has(name))
      issues.push(`params.${name}: the run has no such parameter; it has ${listed([...known])}`);
    else if (param?.required === true && text === "") issues.push(`params.${name}: must not be empty`);
    else if (name.toLowerCase() === "target" && text !== original.target)
      issues.push(`params.${name}: the target cannot be changed; start another run`);
    else if (Object.hasOwn(values, name) || param !== undefined)
      changed[name] = {
        text,
        value: param?.type === "bool" ? text.toLowerCase() === "true" || text === "1" : text,
      };
  }
  return changed;
}

/** The values that earlier steps have recorded. */
interface RecordedValues {
  /** Names that a new run can take over or replace. */
  readonly available: ReadonlySet<string>;
  /** Names whose value has been overwritten by a later step; what they had before, if that is known completely. */
  readonly overwritten: ReadonlyMap<string, unknown>;
  /** Names that only later steps have set. */
  readonly later: ReadonlySet<string>;
}

async function recordedValues(
  deps: ResumeDeps,
  original: StoredRun,
  kept: readonly HistoryEntry[],
): Promise<RecordedValues> {
  const { dispatches, frames } = replay(kept);
  const finished = new Set(kept.flatMap((entry) => (entry.type === "step.finished" ? [entry.key] : [])));
  const isKept = ({ key, dispatch }: StoredStep): boolean =>
    finished.has(key) && frames[key] === undefined && dispatch <= dispatches;
  const steps = await readAll(deps, stepsTable, { pk: original.run_id });
  const stored = new Map(
    (await readAll(deps, valuesTable, { pk: original.run_id })).map((value) => [value.sk, value]),
  );
  // In the order in which they were set.
  const earlier = steps.filter(isKept).sort((one, other) => one.dispatch - other.dispatch);
  const shown = new Map(earlier.flatMap(({ exports }) => Object.entries(exports)));
  const repeated = steps.filter((step) => !isKept(step) && finished.has(step.key));
  const setLater = new Set(
    steps.filter((step) => !isKept(step)).flatMap(({ exports }) => Object.keys(exports)),
  );
  const overwritten = new Map<string, unknown>();
  for (const name of setLater) {
    const text = shown.get(name);
    if (text !== undefined) overwritten.set(name, await restoredValue(deps, String(text), stored.get(name)));
  }
  for (const { exports } of repeated)
    for (const name of Object.keys(exports)) if (!overwritten.has(name)) overwritten.set(name, undefined);
  const later = new Set([...setLater].filter((name) => !overwritten.has(name)));
  const available = [...shown.keys(), ...overwritten.keys()];
  return { available: new Set(available), overwritten, later };
}

/** The value that a step's row shows, of the type that a later step has given it; undefined if it was truncated. */
async function restoredValue(
  deps: ResumeDeps,
  text: string,
  stored: StoredValue | undefined,
): Promise<unknown> {
  if (text.length >= SHOWN_EXPORT_MAX) return undefined;
  const { json = "null", blob } = stored ?? {};
  const after = await openValue(deps, blob === undefined ? { json } : { blob });
  if (typeof after === "string" || after === null) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function checkValues(
  { available, overwritten, later }: RecordedValues,
  values: Readonly<Record<string, unknown>>,
  issues: string[],
): ReadonlyMap<string, unknown> {
  const changed = new Map<string, unknown>([...later].map((name) => [name, undefined]));
  for (const [name, value] of overwritten) {
    if (value === undefined && !Object.hasOwn(values, name))
      issues.push(`values.${name}: required, because a later step has overwritten it`);
    changed.set(name, value);
  }
  for (const [name, value] of Object.entries(values)) {
    if (available.has(name)) changed.set(name, value);
    else
      issues.push(
        `values.${name}: no earlier step has this output or export; they have ${listed([...available])}`,
      );
  }
  return changed;
}

function listed(names: readonly string[]): string {
  if (names.length === 0) return "none";
  const more = names.length > LISTED_MAX ? ` and ${names.length - LISTED_MAX} more` : "";
  return `${names.slice(0, LISTED_MAX).join(", ")}${more}`;
}
