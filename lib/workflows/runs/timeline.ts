import * as z from "zod";
import { readAll } from "../../events/read-all.ts";
import type { Listing, PageRequest } from "../../http/page.ts";
import type { Ports } from "../../platform/ports.ts";
import type { HistoryEntry } from "../engine/history.ts";
import { onePage } from "../lists/read-list.ts";
import { ItemStates } from "./item-states.ts";
import { getRun } from "./read.ts";
import { hasOwnRow } from "./running-steps.ts";
import { historyTable, type StoredHistory, type StoredRun } from "./table.ts";

/** Longest error in the timeline, characters; the step has all of it. */
const ERROR_MAX_LENGTH = 200;

const endStatus = z.enum(["running", "completed", "failed", "skipped", "cancelled", "lost"]);

export const timelineStep = z
  .object({
    key: z.string().describe("Its name, in a flow `module/step`"),
    step_name: z.string(),
    step_type: z.string(),
    module: z.string(),
    parent: z.string().nullable().describe("Key of the step that contains it"),
    status: z.enum(["running", "waiting", "completed", "failed", "skipped", "cancelled"]),
    started_at: z.string(),
    completed_at: z.string().nullable(),
    attempts: z
      .array(z.object({ started_at: z.string(), completed_at: z.string().nullable(), status: endStatus }))
      .describe("Also of repetitions by a loop; the time between two attempts is spent waiting"),
    retry_at: z.string().nullable().describe("When a waiting step is retried"),
    error_message: z.string().describe(`At most ${ERROR_MAX_LENGTH} characters of it`),
    taken_over: z.boolean().describe("Whether the results are those of the run that this one continues"),
    items: z
      .object({
        step: z.string().describe("Key of the repeated step: item 3 is `key#3`; empty before the first one"),
        total: z.int(),
        completed: z.int(),
        failed: z.int(),
        items_per_state: z.int().describe("Number of items that one state of `states` stands for"),
        states: z
          .string()
          .describe(
            "States in the order of the items, each as a number of repetitions and a letter, such as `12c1f7p`: c completed, f failed, s skipped, r running, p pending",
          ),
      })
      .nullable()
      .describe("Of a foreach"),
  })
  .meta({ id: "TimelineStep" });
export type TimelineStep = z.infer<typeof timelineStep>;

/**
 * Returns the steps of a run in the order in which they were requested, with the times of their attempts and the
 * states of their items, from the run's history. Throws `not_found`.
 */
export async function readTimeline(
  deps: Pick<Ports, "tables">,
  idOrNumber: string,
  { offset, limit }: PageRequest,
): Promise<Listing<TimelineStep>> {
  const run = await getRun(deps, idOrNumber);
  const steps = foldTimeline(run, await readAll(deps, historyTable, { pk: run.run_id }));
  const page = steps.slice(offset, offset + limit);
  return { total: steps.length, items: onePage(page) };
}

type Attempt = TimelineStep["attempts"][number];

interface Row extends Omit<TimelineStep, "items"> {
  readonly attempts: Attempt[];
  items: ItemStates | undefined;
}

/** What has been requested and has not finished, by key: also items, which have no row. */
type Open = Map<string, Extract<HistoryEntry, { type: "step.requested" }>>;

/** The timeline of a history. */
export function foldTimeline(
  run: Pick<StoredRun, "source" | "created_at" | "modules">,
  history: readonly Pick<StoredHistory, "at" | "entries">[],
): TimelineStep[] {
  const rows = new Map<string, Row>();
  const open: Open = new Map();
  const continues = run.source?.action === "resume" || run.source?.action === "replay";
  for (const { at, entries } of history) {
    // The history that a run takes over is stored with the time of its creation.
    const isTakenOver = continues && at === run.created_at;
    for (const entry of entries) {
      if (entry.type === "step.requested") request(run, rows, open, entry, at);
      else if (entry.type === "step.waits") wait(rows, entry, at);
      else if (entry.type === "step.finished") finish(rows, open, entry, at, isTakenOver);
      else if (entry.type === "run.finished" || entry.type === "run.cancelled") cancelOpen(rows, at);
    }
  }
  return [...rows.values()].map(({ items, ...row }) => ({ ...row, items: items?.toRecord() ?? null }));
}

type Of<Type extends HistoryEntry["type"]> = Extract<HistoryEntry, { type: Type }>;

function request(
  run: Pick<StoredRun, "modules">,
  rows: Map<string, Row>,
  open: Open,
  entry: Of<"step.requested">,
  at: string,
): void {
  const { key, phase, parent } = entry;
  if (phase === "gate" || phase === "handlers") return;
  if (phase !== "leave") open.set(key, entry);
  if (!hasOwnRow(key)) {
    itemsOf(rows, entry)?.begin(entry.key.slice(0, entry.key.indexOf("#")), rangeOf(entry));
    return;
  }
  if (phase === "leave") return;
  const row: Row = rows.get(key) ?? {
    key,
    step_name: entry.step,
    step_type: entry.step_type,
    module: run.modules[entry.module]?.name ?? "",
    parent,
    status: "running",
    started_at: at,
    completed_at: null,
    attempts: [],
    retry_at: null,
    error_message: "",
    taken_over: false,
    items: undefined,
  };
  close(row, "lost", at);
  row.attempts.push({ started_at: at, completed_at: null, status: "running" });
  Object.assign(row, { status: "running", completed_at: null, retry_at: null, taken_over: false });
  rows.set(key, row);
}

function wait(rows: Map<string, Row>, { key, error, retry_at }: Of<"step.waits">, at: string): void {
  const row = rows.get(key);
  if (row === undefined) return;
  close(row, "failed", at);
  Object.assign(row, {
    status: "waiting",
    retry_at: new Date(retry_at).toISOString(),
    error_message: error.slice(0, ERROR_MAX_LENGTH),
  });
}

function finish(
  rows: Map<string, Row>,
  open: Open,
  entry: Of<"step.finished">,
  at: string,
  isTakenOver: boolean,
): void {
  const { key, status, error = "", total } = entry;
  const requested = open.get(key);
  const row = rows.get(key);
  if (requested?.phase === "enter" && status === "completed") {
    open.delete(key);
    if (row !== undefined && requested.step_type === "foreach") row.items = new ItemStates(total ?? 0);
    // A container that is itself an item goes on; its end is the next one.
    open.set(key, { ...requested, phase: "leave" });
    return;
  }
  open.delete(key);
  if (!hasOwnRow(key)) {
    if (requested !== undefined) itemsOf(rows, requested)?.finish(rangeOf(requested), entry);
    return;
  }
  if (row === undefined) return;
  close(row, status, at);
  Object.assign(row, {
    status,
    completed_at: at,
    retry_at: null,
    error_message: error.slice(0, ERROR_MAX_LENGTH),
    taken_over: isTakenOver,
  });
}

function cancelOpen(rows: Map<string, Row>, at: string): void {
  for (const row of rows.values()) {
    if (row.status !== "running" && row.status !== "waiting") continue;
    close(row, "cancelled", at);
    Object.assign(row, { status: "cancelled", completed_at: at, retry_at: null });
  }
}

/** Ends the last attempt of a step if it is open. */
function close({ attempts }: Row, status: Attempt["status"], at: string): void {
  const last = attempts.at(-1);
  if (last?.completed_at === null) attempts[attempts.length - 1] = { ...last, completed_at: at, status };
}

/** The states of the foreach whose item or batch this is; undefined for steps inside of an item. */
const itemsOf = (rows: Map<string, Row>, { parent }: Of<"step.requested">): ItemStates | undefined =>
  parent === null ? undefined : rows.get(parent)?.items;

/** Positions of the items that a request is about; the end is exclusive. */
function rangeOf({ key, items }: Of<"step.requested">): readonly [from: number, to: number] {
  if (items !== undefined) return items;
  const position = Number(key.slice(key.lastIndexOf("#") + 1));
  return [position, position + 1];
}
