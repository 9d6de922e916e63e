import * as z from "zod";
import { eventKey, eventLogTable, type StoredEvent } from "../../events/log/table.ts";
import type { Listing, PageRequest } from "../../http/page.ts";
import type { Ports } from "../../platform/ports.ts";
import { onePage } from "../lists/read-list.ts";
import { getRun } from "../runs/read.ts";
import { childrenPartition, documentPartition, relationOf, writtenPartition } from "../runs/run-links.ts";
import { rootCauseOf, runKey, runNamesTable, runsTable, type StoredRun } from "../runs/table.ts";

/** Links that one response considers, and runs above a run: a chain has at most `EVENT_HOPS_MAX` by events. */
const LINKS_MAX = 1_000;
const ANCESTORS_MAX = 32;

/** A run as a part of a chain. */
export const chainRun = z
  .object({
    id: z.int(),
    run_id: z.string(),
    workflow_name: z.string(),
    target: z.string(),
    status: z.enum(["pending", "running", "completed", "failed", "cancelled"]),
    hop: z.int(),
    created_at: z.string(),
    started_at: z.string().nullable(),
    completed_at: z.string().nullable(),
    cause: z
      .enum([
        "event",
        "cron",
        "watch",
        "webhook",
        "manual",
        "api",
        "script",
        "duplicate",
        "rerun",
        "resume",
        "replay",
      ])
      .describe("What started it: a trigger of this type, a request, a script, or an action on another run"),
    trigger_name: z.string(),
    event: z
      .object({ event_id: z.string(), topic: z.string(), name: z.string(), created_at: z.string() })
      .nullable()
      .describe("The event that started it; null without one, and after it was removed from the log"),
    event_id: z.string(),
  })
  .meta({ id: "ChainRun" });
type ChainRun = z.infer<typeof chainRun>;

export const runChain = z
  .object({
    root_cause: z.string().describe("Id of the event or run from outside at the start of the chain"),
    run: chainRun,
    ancestors: z
      .array(chainRun)
      .describe(
        `The run that started it or that it was made from, then that one's, at most ${ANCESTORS_MAX}`,
      ),
    started: z.array(chainRun).describe("Runs that it started or that were made from it, oldest first"),
    documents: z.array(z.string()).describe("Ids of the documents that its scripts wrote"),
    truncated: z.boolean().describe(`Whether there are more than ${LINKS_MAX} of these`),
  })
  .meta({ id: "RunChain" });

type ChainDeps = Pick<Ports, "tables">;

/** Returns what started a run and what it started. Throws `not_found`. */
export async function readChain(deps: ChainDeps, idOrNumber: string): Promise<z.infer<typeof runChain>> {
  const run = await getRun(deps, idOrNumber);
  const [ancestors, children, written] = await Promise.all([
    ancestorsOf(deps, run),
    firstLinks(deps, childrenPartition(run.run_id)),
    firstLinks(deps, writtenPartition(run.run_id)),
  ]);
  const started = await runsInOrder(
    deps,
    children.items.map(({ run_id }) => run_id),
  );
  const toRecord = await recorder(deps, [run, ...ancestors, ...started]);
  return {
    root_cause: rootCauseOf(run),
    run: toRecord(run),
    ancestors: ancestors.map(toRecord),
    started: started.map(toRecord),
    documents: written.items.map(({ sk }) => sk),
    truncated: children.more || written.more,
  };
}

export const documentRun = z
  .object({ relation: z.enum(["wrote", "triggered"]), run: chainRun })
  .meta({ id: "DocumentRun" });

/** Returns the runs that wrote a document or that its events triggered, newest first. */
export async function listDocumentRuns(
  deps: ChainDeps,
  documentId: string,
  { offset, limit }: PageRequest,
): Promise<Listing<z.infer<typeof documentRun>>> {
  const { items } = await firstLinks(deps, documentPartition(documentId), true);
  const shown = items.slice(offset, offset + limit);
  const runs = await runsInOrder(deps, [...new Set(shown.map(({ run_id }) => run_id))]);
  const byId = new Map(runs.map((run) => [run.run_id, run]));
  const toRecord = await recorder(deps, runs);
  const records = shown.flatMap((link) => {
    const run = byId.get(link.run_id);
    return run === undefined ? [] : [{ relation: relationOf(link), run: toRecord(run) }];
  });
  return { total: items.length, items: onePage(records) };
}

async function ancestorsOf(deps: ChainDeps, run: StoredRun): Promise<StoredRun[]> {
  const found: StoredRun[] = [];
  const seen = new Set([run.run_id]);
  for (let from: StoredRun | undefined = run; from !== undefined && found.length < ANCESTORS_MAX; ) {
    const above: string | undefined = from.source?.run_id ?? from.parent;
    if (above === undefined || seen.has(above)) break;
    seen.add(above);
    from = await deps.tables.get(runsTable, runKey(above));
    if (from !== undefined) found.push(from);
  }
  return found;
}

async function firstLinks({ tables }: ChainDeps, pk: string, newestFirst = false) {
  const found = await tables.query(runNamesTable, {
    pk,
    limit: LINKS_MAX,
    ...(newestFirst ? { reverse: true } : {}),
  });
  return { items: found.items, more: found.cursor !== undefined };
}

async function runsInOrder(deps: ChainDeps, ids: readonly string[]): Promise<StoredRun[]> {
  if (ids.length === 0) return [];
  const runs = await deps.tables.batchGet(runsTable, ids.map(runKey));
  const byId = new Map(runs.map((run) => [run.run_id, run]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}

/** Reads the events of runs, and returns how to show the runs. */
async function recorder(deps: ChainDeps, runs: readonly StoredRun[]): Promise<(run: StoredRun) => ChainRun> {
  const ids = [...new Set(runs.flatMap(({ event_id }) => (event_id === "" ? [] : [event_id])))];
  const events = ids.length === 0 ? [] : await deps.tables.batchGet(eventLogTable, ids.map(eventKey));
  const byId = new Map(events.map((event) => [event.event_id, event]));
  return (run) => ({
    id: run.number,
    run_id: run.run_id,
    workflow_name: run.workflow_name,
    target: run.target,
    status: run.status,
    hop: run.hop,
    created_at: run.created_at,
    started_at: run.started_at,
    completed_at: run.completed_at,
    cause: causeOf(run),
    trigger_name: run.trigger_name,
    event: shownEvent(byId.get(run.event_id)),
    event_id: run.event_id,
  });
}

function causeOf({ source, parent, event_id, trigger_type }: StoredRun): ChainRun["cause"] {
  if (source !== undefined) return source.action;
  return parent !== undefined && event_id === "" ? "script" : trigger_type;
}

function shownEvent(event: StoredEvent | undefined): ChainRun["event"] {
  if (event === undefined) return null;
  const { event_id, topic, name, created_at } = event;
  return { event_id, topic, name, created_at };
}
